"""One submission to grade, with all that a machine needs that has neither its files nor the term's secret.

Jobs are graded in forked children of a process, which all use its grader; a submission that breaks its child or the
zygote stops no other.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

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


class Gradable(Protocol):
    """What can be graded."""

    @property
    def name(self) -> str:
        """For reports."""

    @property
    def notes(self) -> tuple[str, ...]:
        """For people, on this run."""

    def events(self, grader: Grader) -> Iterator[Event]:
        """Grades it; called in a process that does nothing else."""


@dataclass(frozen=True, eq=False)
class Job:
    """A submission that has been read.

    Attributes:
        name: for reports.
        notes: on this run.
        intake: its files; None where they cannot be graded.
        told: all that there is to say where they cannot.
        seed: of the tests' inputs.
        seed_id: names that seed.
    """

    name: str
    notes: tuple[str, ...] = ()
    intake: Intake | None = None
    told: tuple[Event, ...] = ()
    seed: int = 0
    seed_id: str = ""

    def events(self, grader: Grader) -> Iterator[Event]:
        """Grades it."""
        if self.intake is None:
            yield from self.told
        else:
            yield from events_with_seed(self.intake, self.seed, self.seed_id, grader)


@dataclass(frozen=True, eq=False)
class UnreadJob:
    """A submission that is read where it is graded, on the machine that has the class's folder.

    Attributes:
        entry: of the class.
        conditions: as asked for.
        notes: on this run.
    """

    entry: Entry
    conditions: Conditions
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """For reports."""
        return self.entry.name

    def read(self) -> Job:
        """Reads its files, which may be malformed or hostile: in a process that does nothing else."""
        try:
            intake = take_in(self.entry.source, self.conditions.release, self.conditions.assignment)
        except IntakeRefusedError as error:
            return Job(self.name, self.notes, told=tuple(refusal(error)))
        except IntakeError as error:
            return Job(self.name, self.notes, told=(GivenUp(str(error)),))
        seeds = self.conditions.seeds
        return Job(self.name, self.notes, intake, seed=seeds.of_tests, seed_id=seeds.id_of_tests)

    def unreadable(self, reason: str) -> Job:
        """What is graded where reading it has failed."""
        return Job(self.name, self.notes, told=(GivenUp(f"the process that reads it failed: {reason}"),))

    def events(self, grader: Grader) -> Iterator[Event]:
        """Reads and grades it."""
        yield from self.read().events(grader)


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
) -> Iterator[tuple[Work, Record]]:
    """Grades each job in a child of this process.

    Where something else than the submission has ended its child or the zygote, it is tried again.

    Args:
        jobs: taken from the left.
        assignment: tasks, points, thresholds, limits.
        grader_version: for the records.
        grader: open.
        n_children: how many are graded at a time.

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
    for job, message in run_forked(jobs, work, seconds, n_children):
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
