"""Grades the submissions of a class, here or on a cluster: one zygote and one collection of the tests on each machine.

Whoever grades sends records; this process alone stores them.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tqdm import tqdm

from foundation.texts import printable

from ..grading.record import Record
from ..grading.submission import open_grader
from .cluster import grade_on_cluster
from .entries import Entry
from .jobs import Job, grade_here, job_of
from .regrading import Conditions, Held, contents_of, present_result, settle
from .store import Results

if TYPE_CHECKING:  # needs PyTorch, which the launcher imports
    from ..grading.judging import Grader

NOT_OURS = "graded again, since this term's grader has not sealed the record that was there"
MANY = 10
"""Submissions from which on it pays to prepare the grader for the diagnosis of all tasks."""


def grade_class(
    entries: Sequence[Entry],
    conditions: Conditions,
    results: Results,
    again: bool = False,
    scheduler: str | None = None,
    keeps_changes: bool = False,
) -> list[Held]:
    """Grades what has no result yet of what it is now, weighs anew what needs only that, and lets the results count.

    Args:
        entries: the submissions; enrolled.
        conditions: as asked for.
        results: of the class.
        again: whether to run everything.
        scheduler: address of a Dask cluster; None = on this machine.
        keeps_changes: whether changed marks of the same files count.

    Returns:
        The changes, kept or not, in the order of the entries.

    Raises:
        ClusterError: where the cluster cannot be used, or is lost.
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
        if scheduler:
            jobs = {job_of(entry, conditions, notes.get(entry, ())): entry for entry in to_grade}
            store_all(grade_on_cluster([*jobs], conditions, scheduler), jobs, conditions, store)
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
