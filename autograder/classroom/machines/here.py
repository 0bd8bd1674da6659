"""Grades jobs in forked children of this process, which all use its grader.

A submission that breaks its child or the zygote stops no other.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, TypeVar

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended, run_forked

from ...grading.events import Event, GivenUp
from ...grading.record import Record
from ...grading.recording import Recorder
from ...sandbox.errors import SandboxUnavailableError
from .jobs import Gradable

if TYPE_CHECKING:  # needs PyTorch, which the launcher imports
    from ...grading.judging import Grader

GRACE_SECONDS = 120.0
"""Wall time of a child beyond what its submission may take."""
MOST_TRIES = 3
"""How often a submission is tried whose child, or whose zygote, was ended by something else than its own work."""

Work = TypeVar("Work", bound=Gradable)


@dataclass(frozen=True)
class Unavailable:
    """Sent by a child: the sandbox failed, perhaps since something has ended the zygote."""

    reason: str


def grade_here(
    jobs: deque[Work],
    assignment: Assignment,
    grader_version: str,
    grader: Grader,
    n_children: int = 1,
    inbox: Connection | None = None,
) -> Iterator[tuple[Work, Record]]:
    """Grades each job in a child of this process.

    Where something else than the submission has ended its child or the zygote, it is tried again.

    Args:
        jobs: taken from the left.
        assignment: tasks, points, thresholds, limits.
        grader_version: for the records.
        grader: open.
        n_children: how many are graded at a time.
        inbox: further jobs come from here, until its other end is closed.

    Yields:
        Each job with its record, once; in the order in which they end.
    """

    def work(job: Work) -> Iterator[Event | Unavailable]:
        try:
            yield from job.events(grader)
        except SandboxUnavailableError as error:
            yield Unavailable(str(error))

    recorders: dict[Work, Recorder] = {}
    tries: Counter[Work] = Counter()
    unavailable: set[Work] = set()
    seconds = assignment.limits.total_seconds + GRACE_SECONDS
    grader.renew()
    for job, message in run_forked(jobs, work, seconds, n_children, inbox):
        if job not in recorders:
            recorders[job] = Recorder(job.name, assignment, grader_version, job.notes)
        recorder = recorders[job]
        if isinstance(message, Unavailable):
            recorder.add(GivenUp(message.reason))
            unavailable.add(job)
        elif not isinstance(message, Ended):
            recorder.add(message)
        else:
            del recorders[job]
            tries[job] += 1
            grader.renew()
            was_stopped = message.was_killed or job in unavailable
            unavailable.discard(job)
            if was_stopped and tries[job] < MOST_TRIES:
                jobs.append(job)
                continue
            del tries[job]
            if recorder.record.run.finished is None:
                recorder.add(GivenUp(f"the grader's process failed: {message.reason}"))
            yield job, recorder.record
