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
from .jobs import UnreadJob, grade_here
from .marks import weighed
from .regrading import Conditions, Held, Need, contents_of, need_of, repeated
from .store import Received, Results

if TYPE_CHECKING:  # needs PyTorch, which the launcher imports
    from ..grading.judging import Grader

NOT_OURS = "graded again, since this term's grader has not sealed the record that was there"


MANY = 10
"""Submissions from which on it pays to prepare the grader for the diagnosis of all tasks."""


def grade_class(
    entries: Sequence[Entry],
    received: Mapping[str, Received],
    conditions: Conditions,
    results: Results,
    again: bool = False,
    scheduler: str | None = None,
    keeps_changes: bool = False,
) -> tuple[dict[str, int], list[Held]]:
    """Grades what has no result yet of what it is now, and weighs anew what needs only that.

    Args:
        entries: the submissions.
        received: by the entry's key; enrolled.
        conditions: as asked for.
        results: of the class.
        again: whether to run everything.
        scheduler: address of a Dask cluster; None = on this machine.
        keeps_changes: whether marks count that another run of the same changes; without it, they are not even stored.

    Returns:
        The id of the newest result, by the entry's key; and such changes.

    Raises:
        ClusterError: where the cluster cannot be used, or is lost; likewise.
        NotWrittenError: where a result cannot be stored; those that were finished stay.
        SandboxUnavailableError: where the machine cannot contain any submission as asked.
    """
    newest: dict[str, int] = {}
    changes: list[Held] = []
    to_grade = list(entries)
    if not again:
        contents, _ = contents_of(
            entries, conditions.release, conditions.assignment, conditions.n_children, conditions.show_progress
        )
        to_grade = []
        for entry in entries:
            done = _done(entry, received[entry.key], contents, conditions, results)
            if done is None:
                to_grade.append(entry)
            else:
                newest[entry.key] = done
    if to_grade:
        forged = results.forged(received[entry.key] for entry in to_grade)
        for entry in to_grade:
            if entry.key in forged:
                print(f"note: {printable(entry.entry)}: {NOT_OURS}", file=sys.stderr)

        def store(entry: Entry, record: Record) -> None:
            if again and (found := repeated(entry, received[entry.key], record, results, keeps_changes)):
                newest[entry.key], held = found
                changes.append(held)
                if not held.is_kept:
                    return
            stored = results.add(received[entry.key], record)
            newest[entry.key] = stored.id
            if stored.record.is_finished and not record.is_finished:
                what = "the grader failed this time, so that the earlier result stays"
                print(f"note: {printable(entry.entry)}: {what}", file=sys.stderr)

        notes = {entry: (NOT_OURS,) for entry in to_grade if entry.key in forged}
        if scheduler:
            jobs = jobs_of(to_grade, conditions, notes)
            store_all(grade_on_cluster(jobs, conditions, scheduler), len(jobs), conditions, store)
        else:
            with open_grader(conditions.assignment, conditions.references, conditions.level) as grader:
                grade_all(to_grade, conditions, grader, store, notes)
    return newest, changes


def _done(
    entry: Entry, received: Received, contents: Mapping[Entry, str], conditions: Conditions, results: Results
) -> int | None:
    """The id of an entry's present result, weighed anew where that is needed; None where it has to run."""
    if entry not in contents:
        return None
    content = contents[entry]
    found = results.find(received, content, conditions.grader_version, conditions.seeds.id_of_tests)
    need, stored = need_of(found, conditions)
    if stored is None:
        return None
    if need is Need.WEIGHING:
        record = stored.record
        record = record.changed(judgement=weighed(record.judgement, conditions.assignment))
        stored = results.add(received, record, run=stored.run)
    return stored.id


def grade_all(
    entries: Sequence[Entry],
    conditions: Conditions,
    grader: Grader,
    store: Callable[[Entry, Record], None],
    notes: Mapping[Entry, tuple[str, ...]] | None = None,
) -> None:
    """Grades each entry in a child of this process, and stores its record.

    Args:
        entries: the submissions.
        conditions: as asked for.
        grader: open.
        store: called with each record, once.
        notes: on the runs of some.
    """
    if len(entries) >= MANY:
        grader.prepare()
    jobs = deque(jobs_of(entries, conditions, notes))
    graded = grade_here(jobs, conditions.assignment, conditions.grader_version, grader, conditions.n_children)
    store_all(graded, len(entries), conditions, store)


def jobs_of(
    entries: Sequence[Entry], conditions: Conditions, notes: Mapping[Entry, tuple[str, ...]] | None
) -> list[UnreadJob]:
    """What is to be graded."""
    return [UnreadJob(entry, conditions, (notes or {}).get(entry, ())) for entry in entries]


def store_all(
    graded: Iterator[tuple[UnreadJob, Record]],
    total: int,
    conditions: Conditions,
    store: Callable[[Entry, Record], None],
) -> None:
    """Stores each record as soon as it is there."""
    tqdm.monitor_interval = 0  # its thread would be forked along
    with tqdm(desc="class", unit="submission", total=total, disable=not conditions.show_progress) as bar:
        for job, record in graded:
            store(job.entry, record)
            bar.update()
