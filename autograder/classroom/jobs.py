"""One submission to grade, with all that a machine needs that has neither its files nor the term's secret.

Jobs are graded in forked children of a process, which all use its grader; a submission that breaks its child or the
zygote stops no other.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended, run_forked

from ..grading.record import Record
from ..grading.recording import Event, GivenUp, Recorder
from ..grading.submission import events_with_seed, refusal
from ..intake import Intake, IntakeError, IntakeRefusedError, take_in
from ..sandbox.errors import SandboxUnavailableError
from .entries import Entry
from .regrading import Conditions

if TYPE_CHECKING:
    from ..grading.judging import Grader

GRACE_SECONDS = 120.0
"""Wall time of a child beyond what its submission may take."""
MOST_TRIES = 3
"""How often a submission is tried whose child, or whose zygote, was ended by something else than its own work."""
Given: TypeAlias = Intake | tuple[Event, ...]
"""A submission's files, or all that there is to say where they cannot be graded."""


@dataclass(frozen=True, eq=False)
class Job:
    """A submission to grade."""

    name: str  # for reports
    notes: tuple[str, ...]  # on this run
    given: Given | Callable[[], Given]  # or what reads it, where the class's folder is
    seed: int  # of the tests' inputs
    seed_id: str  # names that seed

    def read(self) -> Given:
        """Its files, which may be malformed or hostile: in a process that does nothing else."""
        return self.given() if callable(self.given) else self.given

    def events(self, grader: Grader) -> Iterator[Event]:
        """Reads and grades it."""
        given = self.read()
        if isinstance(given, Intake):
            yield from events_with_seed(given, self.seed, self.seed_id, grader)
        else:
            yield from given


def job_of(entry: Entry, conditions: Conditions, notes: tuple[str, ...] = ()) -> Job:
    """The job of grading an entry; it is read where it is graded."""
    seeds = conditions.seeds
    return Job(entry.name, notes, partial(given_in, entry, conditions), seeds.of_tests, seeds.id_of_tests)


def given_in(entry: Entry, conditions: Conditions) -> Given:
    """What an entry brings."""
    try:
        return take_in(entry.source, conditions.release, conditions.assignment)
    except IntakeRefusedError as error:
        return tuple(refusal(error))
    except IntakeError as error:
        return (GivenUp(str(error)),)


@dataclass(frozen=True)
class Unavailable:
    """Sent by a child: the sandbox failed, perhaps since something has ended the zygote."""

    reason: str


def grade_here(
    jobs: deque[Job], assignment: Assignment, grader_version: str, grader: Grader, n_children: int = 1
) -> Iterator[tuple[Job, Record]]:
    """Grades each job in a child of this process, so many at a time.

    Where something else than the submission has ended its child or the zygote, it is tried again.

    Yields:
        Each job with its record, once; in the order in which they end.
    """

    def work(job: Job) -> Iterator[Event | Unavailable]:
        try:
            yield from job.events(grader)
        except SandboxUnavailableError as error:
            yield Unavailable(str(error))

    recorders: dict[Job, Recorder] = {}
    tries: Counter[Job] = Counter()
    unavailable: set[Job] = set()
    grader.renew()
    for job, message in run_forked(jobs, work, assignment.limits.total_seconds + GRACE_SECONDS, n_children):
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
            if recorder.record.run.finished is None:
                recorder.add(GivenUp(f"the grader's process failed: {message.reason}"))
            yield job, recorder.record
