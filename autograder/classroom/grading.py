"""Grades the submissions of a class: what has to run, in forked children that all use one grader, or on a cluster.

A submission that breaks its child or the zygote stops no other. Whoever grades sends records; this process alone stores
them.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended, run_forked
from foundation.texts import printable

from ..grading.record import Record
from ..grading.recording import Event, GivenUp, Recorder
from ..grading.submission import events_with_seed, open_grader, refusal
from ..intake import Intake, IntakeError, IntakeRefusedError, take_in
from ..sandbox.errors import SandboxUnavailableError
from .entries import Entry
from .regrading import Conditions, Held, contents_of, present_result, settle
from .store import Results

if TYPE_CHECKING:  # needs PyTorch, which the launcher imports
    from ..grading.judging import Grader

NOT_OURS = "graded again, since this term's grader has not sealed the record that was there"
MANY = 10
"""Submissions from which on it pays to prepare the grader for the diagnosis of all tasks."""
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


def grade_class(
    entries: Sequence[Entry],
    conditions: Conditions,
    results: Results,
    again: bool = False,
    keeps_changes: bool = False,
    elsewhere: Callable[[Sequence[Job], Conditions], Iterator[tuple[Job, Record]]] | None = None,
) -> list[Held]:
    """Grades what has no result yet of what it is now, weighs anew what needs only that, and lets the results count.

    Args:
        entries: the submissions; enrolled.
        conditions: as asked for.
        results: of the class.
        again: whether to run everything.
        keeps_changes: whether changed marks of the same files count.
        elsewhere: grades jobs on other machines; None = on this one.

    Returns:
        The changes, kept or not, in the order of the entries.

    Raises:
        NotWrittenError: where a result cannot be stored; those that were finished stay.
        SandboxUnavailableError: where the machine cannot contain any submission as asked.
    """
    changes: dict[Entry, Held] = {}

    def store(entry: Entry, record: Record) -> None:
        if held := settle(entry, record, results, keeps_changes):
            changes[entry] = held

    to_grade = list(entries)
    if not again:
        contents, _ = contents_of(
            entries, conditions.release, conditions.assignment, conditions.n_children, conditions.show_progress
        )
        for entry, content in contents.items():
            if done := present_result(entry, content, conditions, results):
                to_grade.remove(entry)
                store(entry, done)
    if to_grade:
        forged = results.forged(to_grade)
        notes = {entry: (NOT_OURS,) for entry in to_grade if entry.key in forged}
        for entry in notes:
            print(f"note: {printable(entry.entry)}: {NOT_OURS}", file=sys.stderr)
        if elsewhere:
            jobs = {job_of(entry, conditions, notes.get(entry, ())): entry for entry in to_grade}
            store_all(elsewhere([*jobs], conditions), jobs, conditions, store)
        else:
            with open_grader(conditions.assignment, conditions.references, conditions.level) as grader:
                grade_all(to_grade, conditions, grader, store, notes)
    return [changes[entry] for entry in entries if entry in changes]


def grade_all(
    entries: Sequence[Entry],
    conditions: Conditions,
    grader: Grader,
    store: Callable[[Entry, Record], None],
    notes: Mapping[Entry, tuple[str, ...]] | None = None,
) -> None:
    """Grades each entry in a child of this process, and calls `store` with its record; with notes on some runs."""
    if len(entries) >= MANY:
        grader.prepare()
    jobs = {job_of(entry, conditions, (notes or {}).get(entry, ())): entry for entry in entries}
    graded = grade_here(deque(jobs), conditions.assignment, conditions.grader_version, grader, conditions.n_children)
    store_all(graded, jobs, conditions, store)


def store_all(
    graded: Iterator[tuple[Job, Record]],
    jobs: Mapping[Job, Entry],
    conditions: Conditions,
    store: Callable[[Entry, Record], None],
) -> None:
    """Stores each record as soon as it is there."""
    tqdm.monitor_interval = 0  # its thread would be forked along
    with tqdm(desc="class", unit="submission", total=len(jobs), disable=not conditions.show_progress) as bar:
        for job, record in graded:
            store(jobs[job], record)
            bar.update()
