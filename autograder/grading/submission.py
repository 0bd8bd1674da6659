"""Opens a grader, and grades one submission with it.

The zygote and the grader load PyTorch for seconds, each in its own process. This module loads none, so that the zygote
is on its way before the rest is imported.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment

from ..intake.submission import Intake, IntakeRefusedError, name_of, take_in
from ..sandbox.errors import SandboxUnavailableError
from ..sandbox.zygote import Zygote
from .provenance import Seeds
from .record import Record, new_record

if TYPE_CHECKING:
    from .judging import Grader

MOST_ATTEMPTS = 3


@dataclass(frozen=True)
class Conditions:
    """The conditions under which submissions are graded."""

    assignment: Assignment  # tasks, points, thresholds, limits
    release: Path  # the skeleton's folder
    references: Path  # the test split, `source|||target` lines
    grader_version: str  # of everything that decides outcomes
    seeds: Seeds  # for the tests' random inputs
    level: str = "auto"  # of containment
    n_children: int = 1  # how many submissions are graded at a time


@contextmanager
def open_grader(
    assignment: Assignment, references: Path, level: str = "auto", zygote: Zygote | None = None
) -> Iterator[Grader]:
    """A grader for any number of submissions, one after the other; ended with the block.

    A zygote that is given belongs to the caller; otherwise one is started at this level. Raises:
    SandboxUnavailableError where the machine does not offer the level, or the tests cannot be collected.
    """
    running = Zygote(assignment, level) if zygote is None else zygote
    grader: Grader | None = None
    try:
        from ..running.collected_tests import CollectedTests  # PyTorch is imported here
        from .judging import Grader

        grader = Grader(assignment, references, CollectedTests(assignment), running, level)
        yield grader
    finally:
        if zygote is None:
            (grader.zygote if grader else running).close()


def grade_submission(
    intake: Intake, record: Record, seeds: Seeds, grader: Grader, show_progress: bool = False
) -> Iterator[Record]:
    """Grades a submission with the seed of the term; yields its record, a new one at first, after each step.

    Where something outside has ended the zygote or a worker, it is judged again from the start.

    Raises: SandboxUnavailableError where that happens each time, or where there is no sandbox.
    """
    record = record.taken_in(intake.hashes, seeds.id_of_tests)
    for attempt in itertools.count(1):
        yield record
        try:
            yield from grader.judge(intake, seeds.of_tests, record, show_progress)
            return
        except SandboxUnavailableError as error:
            if attempt == MOST_ATTEMPTS:
                raise
            grader.renew()
            record = record.noted_of_run(f"judged again from the start, since {error}")


def grade_alone(path: Path, conditions: Conditions, store: Callable[[Record], None]) -> Record:
    """Grades one submission; calls `store` after each step. Raises: IntakeError, and what grading raises."""
    assignment = conditions.assignment
    blank = record = new_record(name_of(path), assignment, conditions.grader_version)
    try:
        intake = take_in(path, conditions.release, assignment)
    except IntakeRefusedError as error:
        record = blank.refused(error.reason, error.hashes)
        store(record)
        return record
    try:
        with open_grader(assignment, conditions.references, conditions.level) as grader:
            for record in grade_submission(intake, blank, conditions.seeds, grader, sys.stderr.isatty()):
                store(record)
    except Exception as error:
        store(record.given_up(str(error) or type(error).__name__))
        raise
    return record
