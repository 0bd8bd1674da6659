"""Draws questions about correct variants and submissions with a known fault, as for a sitting, and judges them.

Each option is run again, with other inputs, as the question says in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from autograder.course.catalogue import apply, read_catalogue
from autograder.grading.provenance import Seeds
from autograder.grading.submission import open_grader
from autograder.intake.sources import Sources, read_sources
from autograder.intake.submission import take_in
from autograder.own_work.bench import Component
from autograder.own_work.examiner import Examiner
from autograder.own_work.question import N_OPTIONS, ChangedLine, Question
from autograder.own_work.student_lines import with_code
from foundation.assignment_file import Assignment, read_assignment
from foundation.places import SKELETON

from .console import Every, Start
from .variants import read_variants

LEAST_KINDS = 6
SECRET, SITTING = b"questions are proven", "a proof"
SEED = 77
"""Of the inputs with which options are run again."""


@dataclass(frozen=True)
class Asked:
    """A question, and which of its options are right when they are run again; None where that cannot be run."""

    submission: str
    question: Question
    is_right: tuple[bool, ...] | None

    @property
    def problem(self) -> str:
        """Fault of the question; "" = none."""
        question = self.question
        if question.right is None or len({*question.options}) != N_OPTIONS:
            return f"expected {N_OPTIONS} different options"
        wanted = tuple(index == question.right for index in range(N_OPTIONS))
        return "" if self.is_right in (None, wanted) else f"right are {self.is_right}, and by the key {wanted}"


def submissions(every: int, start: int, assignment: Assignment) -> Iterator[tuple[str, Sources, tuple[str, ...]]]:
    """Names, sources, and the modules that are handed in: those of a variant, or the module of a fault."""
    reference = read_sources(assignment.reference, assignment.reference)
    for variant in read_variants(assignment, reference)[start % every :: every]:
        yield variant.name, variant.sources, tuple({component.partition(".")[0] for component in variant.components})
    for fault in read_catalogue(assignment=assignment)[start % every :: every]:
        yield fault.id, apply(fault, reference), (fault.component.partition(".")[0],)


def ask_all(every: int, start: int, assignment: Assignment) -> list[Asked]:
    """The questions about these submissions, judged."""
    asked: list[Asked] = []
    chosen = list(submissions(every, start, assignment))
    with TemporaryDirectory() as folder, open_grader(assignment, Path(folder) / "none") as grader:
        examiner = Examiner(grader, Seeds(SECRET), SITTING)
        for name, sources, modules in tqdm(chosen, "questions", disable=None):
            place = Path(folder) / name
            place.mkdir()
            for module in modules:
                (place / f"{module}.py").write_text(sources[module][1], encoding="utf-8")
            intake = take_in(place, SKELETON, assignment)
            for question in examiner.sheet(name, name, intake).questions:
                component = Component(question.component, intake, grader, SEED)
                asked.append(Asked(name, question, right_options(question, component)))
    return asked


def right_options(question: Question, component: Component) -> tuple[bool, ...] | None:
    """Return which options are right when they are run; None where they are values, of which the code had component."""
    asked, options = question.text[0], question.options
    match question.kind:
        case "input":
            differing = component.differing(with_line(component, question.change)) or set()
            is_right = [(option in differing) == ("no longer" in asked) for option in options]
        case "branch":
            [meant] = [own for own in component.own if asked.endswith(f" line {own.node.lineno}?")]
            differing = component.differing(with_code(component.text, meant.node, "raise RuntimeError") or "") or set()
            is_right = [(option in differing) != ("does not run" in asked) for option in options]
        case "symptom" | "purpose":
            shown, _ = component.seen(with_line(component, question.change))
            is_right = [option in shown for option in options]
        case _:
            return None
    return tuple(is_right)


def with_line(component: Component, change: ChangedLine | None) -> str:
    """The module with the changed line. Raises: ValueError where there is none, or the line is not what it says."""
    if change is None:
        raise ValueError("no line is changed")
    lines, number = component.text.split("\n"), int(change.place.rpartition(" ")[2])
    whole = lines[number - 1]
    if whole.strip() != change.before:
        raise ValueError(f"{change} is not line {number}: {whole}")
    lines[number - 1] = whole[: len(whole) - len(whole.lstrip())] + change.after
    return "\n".join(lines)


def prove(every: Every = 1, start: Start = 0) -> int:
    """Prove the questions about students' own code.

    Draw a sitting's questions about correct variants and submissions with a known fault, and run each option again with
    other inputs. Status 1 if a question does not have one correct choice, or if a kind is missing.
    """
    asked = ask_all(every, start, read_assignment())
    kinds = Counter(answer.question.kind for answer in asked)
    problems = [answer for answer in asked if answer.problem]
    for answer in problems:
        question = answer.question
        print(f"{answer.submission}, {question.kind}, {question.component}: {answer.problem}")
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    print(f"{len(asked)} questions about {len({answer.submission for answer in asked})} submissions: {counts}")
    return int(bool(problems) or len(kinds) < LEAST_KINDS)
