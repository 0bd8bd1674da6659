"""Checks what an instructor provides beside the reference, before the gates: the corpus, and the tests' marks."""

import ast
import re
import tomllib
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
_MARK = re.compile(r"task_(\d+|e)_\d+")


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
        both = enumerate(zip(references, sources, strict=True), start=1)
        for number in [number for number, (line, source) in both if line.split(SEPARATOR)[0] != source][:1]:
            yield Problem(name, number, f"is about another sentence than line {number} of {test}", "make both anew")


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
    """Tests marked for no task or rubric item of the assignment, and tasks and items without a test."""
    tasks = {task.marker: task for task in assignment.tasks}
    items = {item.name: task.number for task in coded_tasks(assignment) for item in task.items}
    marked: set[str] = set()
    named: set[object] = set()
    if assignment.own_tests:  # students' own tests have groups of faults instead
        for table in tomllib.loads(read_text(root / OWN_TESTS, OWN_TESTS)).values():
            named.update(table["groups"])
    for path in sorted((root / TESTS).glob("*.py")):
        name = f"{TESTS}{path.name}"
        text = read_text(path, name)
        marked.update(match[0] for match in _MARK.finditer(text))
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Attribute(attr=mark) if _MARK.fullmatch(mark) and mark not in tasks:
                    what = f"is marked {mark}, but assignment.toml has no such task"
                    yield Problem(name, node.lineno, what, "correct the mark, or remove the test")
                case ast.Call(func=ast.Attribute(attr="item"), args=[ast.Constant(str(item))]) if item not in items:
                    what = f"names the rubric item {item!r}, but assignment.toml has no such item"
                    yield Problem(name, node.lineno, what, "correct the name, or add the item")
                case ast.Constant(value):
                    named.add(value)
    for task in coded_tasks(assignment):
        if task.marker not in marked:
            right = f"write one in a file with `pytestmark = pytest.mark.{task.marker}`"
            yield Problem(TESTS, 0, f"no test is marked {task.marker}, for task {task.number}", right)
    for item, number in items.items():
        if item not in named:
            right = f"write one marked `@pytest.mark.item({item!r})`, or remove the item"
            yield Problem(TESTS, 0, f"no test names the rubric item {item!r} of task {number}", right)
