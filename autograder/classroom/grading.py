"""Grades the submissions of a class in forked children of this process, which all use one grader.

A submission that breaks its child or the zygote stops no other. Children send events; this process stores records.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tqdm import tqdm

from foundation.child_processes import Ended, run_forked
from foundation.texts import printable

from ..grading.record import Record
from ..grading.recording import Event, GivenUp, Recorder
from ..grading.submission import events_of, open_grader, refusal
from ..intake import IntakeError, IntakeRefusedError, take_in
from ..sandbox.errors import SandboxUnavailableError
from .entries import Entry
from .records import Results
from .regrading import Conditions, Held, contents_of, present_result, settle

if TYPE_CHECKING:  # needs PyTorch, which the launcher imports
    from ..grading.judging import Grader

NOT_OURS = "graded again, since this term's grader has not sealed the record that was there"
GRACE_SECONDS = 120.0
"""Wall time of a child beyond what its submission may take."""
Store = Callable[[Entry, Record], None]


def grade_class(
    entries: Sequence[Entry],
    conditions: Conditions,
    results: Results,
    again: bool = False,
    keeps_changes: bool = False,
) -> list[Held]:
    """Grades what has no result yet of what it is now, weighs anew what needs only that, and lets the results count.

    Args:
        entries: the submissions; enrolled.
        conditions: as asked for.
        results: of the class.
        again: whether to run everything.
        keeps_changes: whether changed marks of the same files count.

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
        for entry, content in contents_of(entries, conditions).items():
            if done := present_result(entry, content, conditions, results):
                to_grade.remove(entry)
                store(entry, done)
    if to_grade:
        notes = {entry: (NOT_OURS,) for entry in to_grade if results.is_forged(entry.key)}
        for entry in notes:
            print(f"note: {printable(entry.entry)}: {NOT_OURS}", file=sys.stderr)
        with open_grader(conditions.assignment, conditions.references, conditions.level) as grader:
            grade_all(to_grade, conditions, grader, store, notes)
    return [changes[entry] for entry in entries if entry in changes]


def grade_all(
    entries: Sequence[Entry],
    conditions: Conditions,
    grader: Grader,
    store: Store,
    notes: Mapping[Entry, tuple[str, ...]] | None = None,
) -> None:
    """Grades each entry in a child of this process, and calls `store` with its record, once.

    Where something else than the submission has ended its child or the zygote, the record is not finished, so that
    the next run of the class grades it again.

    Args:
        entries: the submissions.
        conditions: as asked for.
        grader: that all children use.
        store: called in the order in which they end.
        notes: on some runs.
    """
    assignment, noted = conditions.assignment, notes or {}
    recorders = {
        entry: Recorder(entry.name, assignment, conditions.grader_version, noted.get(entry, ())) for entry in entries
    }
    grader.renew()
    tqdm.monitor_interval = 0  # its thread would be forked along
    seconds = assignment.limits.total_seconds + GRACE_SECONDS
    with tqdm(desc="class", unit="submission", total=len(entries), disable=not conditions.show_progress) as bar:
        jobs = deque(entries)
        for entry, message in run_forked(
            jobs, lambda entry: events_in(entry, conditions, grader), seconds, conditions.n_children
        ):
            if not isinstance(message, Ended):
                recorders[entry].add(message)
                continue
            grader.renew()
            recorder = recorders.pop(entry)
            if recorder.record.run.finished is None:
                recorder.add(GivenUp(f"the grader's process failed: {message.reason}"))
            store(entry, recorder.record)
            bar.update()


def events_in(entry: Entry, conditions: Conditions, grader: Grader) -> Iterator[Event]:
    """Reads and grades an entry, whose files may be malformed or hostile; runs in a child."""
    try:
        intake = take_in(entry.source, conditions.release, conditions.assignment)
    except IntakeRefusedError as error:
        yield from refusal(error)
    except IntakeError as error:
        yield GivenUp(str(error))
    else:
        try:
            yield from events_of(intake, conditions.seeds, grader)
        except SandboxUnavailableError as error:  # perhaps since something has ended the zygote
            yield GivenUp(str(error))
