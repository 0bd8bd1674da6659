"""Opens a grader, and grades one submission with it.

Opening starts the zygote first, and beside it what the grader itself needs of PyTorch.

Both load PyTorch for seconds, each in its own process. This module loads none, so that the zygote is on its way
before the rest is imported; all other modules import what they need at their top.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.assignment_file import Assignment

from ..intake import Intake, IntakeRefusedError
from ..sandbox.errors import SandboxUnavailableError, WorkerKilledError
from ..sandbox.zygote import Zygote
from .recording import Event, Finished, Noted, Refused, TakenIn
from .seeds import Seeds

if TYPE_CHECKING:
    from .judging import Grader

MOST_ATTEMPTS = 5
JUDGED_AGAIN = "judged again from the start, since {error}"


@contextmanager
def open_grader(
    assignment: Assignment, references: Path, level: str = "auto", zygote: Zygote | None = None
) -> Iterator[Grader]:
    """A grader for any number of submissions, one after the other; ended with the block.

    Args:
        assignment: tasks, points, thresholds, limits.
        references: the test split, `source|||target` lines.
        level: of containment; see `layers.LEVELS`.
        zygote: one that runs already, and belongs to the caller; None = one at this level is started.

    Raises:
        SandboxUnavailableError: where the machine does not offer the level, or the tests cannot be collected.
    """
    running = Zygote(assignment, level) if zygote is None else zygote
    grader: Grader | None = None
    try:
        from ..testing.collected_tests import CollectedTests  # PyTorch is imported here
        from .judging import Grader

        tests = CollectedTests(assignment)
        grader = Grader(assignment, references, tests, running, level)
        yield grader
    finally:
        if zygote is None:
            (grader.zygote if grader is not None else running).close()


def events_of(intake: Intake, seeds: Seeds, grader: Grader, *, show_progress: bool = False) -> Iterator[Event]:
    """The events of grading a submission with the seed of the term.

    Where something outside has ended the zygote or a worker, it is judged again from the start, and `TakenIn` comes
    again. A worker that is killed twice over the same component is put down to the submission.

    Raises:
        SandboxUnavailableError: where the sandbox cannot be had, or this process cannot renew a zygote that has ended.
    """
    killed: set[str] = set()
    notes: list[Noted] = []
    while True:
        yield TakenIn(intake.hashes, seeds.id_of_tests)
        yield from notes
        try:
            yield from grader.judge(intake, seeds.of_tests, killed_before=killed, show_progress=show_progress)
        except SandboxUnavailableError as error:
            can_go_on = isinstance(error, WorkerKilledError) or grader.renew()
            if not can_go_on or len(notes) + 1 == MOST_ATTEMPTS:
                raise
            if isinstance(error, WorkerKilledError):
                killed.add(error.component)
            notes.append(Noted(JUDGED_AGAIN.format(error=error), is_about_run=True))
        else:
            return


def refusal(error: IntakeRefusedError) -> Iterator[Event]:
    """The events of a submission that is there, but of a kind that is not graded."""
    yield TakenIn(error.hashes)
    yield Refused(error.reason)
    yield Finished()
