"""Draws questions about correct variants and submissions with a known fault, as for a sitting, and judges them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from autograder.diagnosis.catalogue import apply, read_catalogue
from autograder.grading.seeds import Seeds
from autograder.grading.submission import open_grader
from autograder.intake import take_in
from autograder.sources import Sources, read_sources
from autograder.understanding.examiner import open_examiner
from autograder.understanding.question import N_OPTIONS, Question
from foundation.assignment_file import Assignment, read_assignment
from foundation.places import SKELETON

from .markdown import table
from .question_runs import Reader
from .question_texts import by_experience, by_features
from .variants import read_variants

MOST_BY_TEXT, LEAST_KINDS = 0.35, 9
SECRET, SITTING = b"questions are proven", "a proof"


@dataclass(frozen=True)
class Asked:
    """A question, and which of its options are right when they are run again; None where that cannot be run."""

    submission: str
    question: Question
    is_right: tuple[bool, ...] | None

    @property
    def problem(self) -> str:
        """What is wrong with it; "" = nothing."""
        one = self.question
        if one.right is None or len({(option.place, option.shown) for option in one.options}) != N_OPTIONS:
            return f"expected {N_OPTIONS} different options"
        wanted = tuple(index == one.right for index in range(N_OPTIONS))
        return "" if self.is_right in (None, wanted) else f"right are {self.is_right}, and by the key {wanted}"


def submissions(every: int, start: int, assignment: Assignment) -> Iterator[tuple[str, Sources, tuple[str, ...]]]:
    """Names, sources, and the modules that are handed in: those of a variant, or the module of a fault."""
    reference = read_sources(assignment.reference, assignment.reference)
    variants = read_variants(assignment.folder / "proof" / "variants", reference, assignment.contract)
    own = [one for one in variants if not one.is_same_code]
    for one in own[start % every :: every]:
        yield one.name, one.sources, tuple({component.partition(".")[0] for component in one.components})
    for fault in read_catalogue(assignment=assignment)[start % every :: every]:
        yield fault.id, apply(fault, reference), (fault.component.partition(".")[0],)


def ask_all(every: int, start: int, assignment: Assignment) -> list[Asked]:
    """The questions about these submissions, judged."""
    found: list[Asked] = []
    chosen = list(submissions(every, start, assignment))
    with TemporaryDirectory() as folder, open_grader(assignment, Path(folder) / "none") as grader:
        seeds = Seeds(SECRET)
        with open_examiner(grader, seeds, SITTING) as examiner:
            for name, sources, modules in tqdm(chosen, "questions", disable=None):
                place = Path(folder) / name
                place.mkdir()
                for module in modules:
                    (place / f"{module}.py").write_text(sources[module][1], encoding="utf-8")
                intake = take_in(place, SKELETON, assignment)
                reader = Reader(intake, grader, assignment)
                for question in examiner.sheet(name, name, intake).questions:
                    right = reader.right(question, examiner.seed_of(name, intake))
                    found.append(Asked(name, question, right))
    return found


def report(asked: Sequence[Asked]) -> tuple[str, bool]:
    """The result in Markdown, and whether it is as it should be."""
    questions = [one.question for one in asked]
    kinds = sorted({one.kind for one in questions})
    rows = []
    for kind in [*kinds, "all"]:
        some = [one for one in questions if kind in (one.kind, "all")]
        name, share = max(by_features(some).items(), key=lambda pair: pair[1])
        bad = sum(bool(one.problem) for one in asked if kind in (one.question.kind, "all"))
        rows.append([kind, str(len(some)), str(bad), f"{share:.0%} ({name})", f"{by_experience(some):.0%}"])
    shown = table(["kind", "questions", "not one right choice", "best text feature", "by what was right before"], rows)
    problems = [
        f"{one.submission}, {one.question.kind}, {one.question.component}: {one.problem}"
        for one in asked
        if one.problem
    ]
    best = max(by_features(questions).values(), default=0.0)
    holds = not problems and len(kinds) >= LEAST_KINDS and best <= MOST_BY_TEXT
    students = len({one.submission for one in asked})
    return "\n".join(
        [shown, "", f"{len(asked)} questions about {students} submissions, {len(kinds)} kinds", *problems]
    ), holds


def prove_questions(options: argparse.Namespace) -> int:
    """Prints the result; 0 where it holds."""
    asked = ask_all(options.every, options.start, read_assignment(options.assignment))
    text, holds = report(asked)
    print(text)
    return int(not holds)
