"""Checks what an instructor provides beside the reference, before the gates: the corpus, and the tests' marks."""

import re
from collections.abc import Iterator
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.places import REFERENCES

from .contents import CORPUS, GRADER, REQUIRED_CORPUS, TESTS
from .handout import read_text
from .regions import Problem, ReleaseError
from .skeleton import coded_tasks

SEPARATOR = "|||"
OWN_TESTS = f"{GRADER}/assignment/own_tests.toml"


def check_inputs(root: Path, assignment: Assignment) -> None:
    """Raises: ReleaseError with every problem found."""
    problems = list(_mark_problems(root, assignment))
    if assignment.judges_translations:
        problems += _corpus_problems(root)
    if problems:
        raise ReleaseError(problems)


def _corpus_problems(root: Path) -> Iterator[Problem]:
    """Lines that are no pairs, and references that do not belong to the lines that students translate."""
    train, dev, test = (f"{CORPUS}/{name}" for name in REQUIRED_CORPUS)
    for name in (train, dev):
        yield from _not_pairs(name, _lines_of(root, name))
    name = REFERENCES.as_posix()
    sources, references = _lines_of(root, test), _lines_of(root, name)
    if len(sources) != len(references):
        what = f"has {len(references)} lines, but {test} has {len(sources)}"
        yield Problem(name, 0, what, "each line needs the reference of the line that students translate")
    elif any(SEPARATOR in line for line in references):
        yield from _not_pairs(name, references)


def _lines_of(root: Path, name: str) -> list[str]:
    """As training and grading read them: nothing but a line feed ends a line."""
    text = read_text(root / name, name).removesuffix("\n")
    return [line.removesuffix("\r") for line in text.split("\n")] if text else []


def _not_pairs(name: str, lines: list[str]) -> Iterator[Problem]:
    """The first line that is no pair."""
    if not lines:
        yield Problem(name, 0, "is empty", f"expected lines `source{SEPARATOR}target`")
    for number, line in enumerate(lines, start=1):
        sides = line.split(SEPARATOR)
        if len(sides) != 2 or not all(map(str.strip, sides)):
            yield Problem(name, number, "is no pair", f"expected `source{SEPARATOR}target`")
            return


def _mark_problems(root: Path, assignment: Assignment) -> Iterator[Problem]:
    """Tasks and rubric items without a test."""
    text = "".join(read_text(path, path.name) for path in sorted((root / TESTS).glob("*.py")))
    if assignment.own_tests:  # students' own tests have groups of faults instead
        text += read_text(root / OWN_TESTS, OWN_TESTS)
    for task in coded_tasks(assignment):
        if not re.search(rf"{task.marker}\b", text):
            right = f"write one in a file with `pytestmark = pytest.mark.{task.marker}`"
            yield Problem(TESTS, 0, f"no test is marked {task.marker}, for task {task.number}", right)
        for item in task.items:
            if f'"{item.name}"' not in text:
                right = f"write one marked `@pytest.mark.item({item.name!r})`, or remove the item"
                yield Problem(TESTS, 0, f"no test names the rubric item {item.name!r} of task {task.number}", right)
