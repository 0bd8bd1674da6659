"""Grades the submissions of a class: one zygote and one collection of the tests for all, a forked child for each.

A submission that breaks its child or the zygote stops no other. The children send what they find out, and this
process alone stores results.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tqdm import tqdm

from foundation.child_processes import Ended, run_forked
from foundation.printable_text import printable

from ..grading.events import Event, GivenUp
from ..grading.launcher import open_grader
from ..grading.record import Record
from ..grading.recording import Recorder
from ..grading.submission import events_of, refusal
from ..intake import IntakeError, IntakeRefusedError, take_in
from ..sandbox.errors import SandboxUnavailableError
from .entries import Entry
from .marks import weighed
from .staleness import Conditions, Need, contents_of, need_of
from .store import Received, Results

if TYPE_CHECKING:  # needs PyTorch, which the launcher imports
    from ..grading.judging import Grader

GRACE_SECONDS = 120.0
"""Wall time of a child beyond what its submission may take."""
MOST_TRIES = 3
"""How often a submission is tried whose child, or whose zygote, was ended by something else than its own work."""


NOT_OURS = "graded again, since this term's grader has not sealed the record that was there"


@dataclass(frozen=True)
class Unavailable:
    """Sent by a child: the sandbox failed, perhaps since something has ended the zygote."""

    reason: str


def grade_class(
    entries: Sequence[Entry],
    received: Mapping[str, Received],
    conditions: Conditions,
    results: Results,
    again: bool = False,
) -> dict[str, int]:
    """Grades what has no result yet of what it is now, and weighs anew what needs only that.

    Args:
        entries: the submissions.
        received: by the entry's key; enrolled.
        conditions: as asked for.
        results: of the class.
        again: whether to run everything.

    Returns:
        The id of the newest result, by the entry's key.

    Raises:
        NotWrittenError: where a result cannot be stored; those that were finished stay.
        SandboxUnavailableError: where the machine cannot contain any submission as asked.
    """
    newest: dict[str, int] = {}
    to_grade = list(entries)
    if not again:
        contents = contents_of(entries, conditions)
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
            stored = results.add(received[entry.key], record)
            newest[entry.key] = stored.id
            if stored.record.is_finished and not record.is_finished:
                what = "the grader failed this time, so that the earlier result stays"
                print(f"note: {printable(entry.entry)}: {what}", file=sys.stderr)

        notes = {entry: (NOT_OURS,) for entry in to_grade if entry.key in forged}
        with open_grader(conditions.assignment, conditions.references, conditions.level) as grader:
            grade_all(to_grade, conditions, grader, store, notes)
    return newest


def _done(
    entry: Entry, received: Received, contents: Mapping[Entry, str], conditions: Conditions, results: Results
) -> int | None:
    """The id of an entry's present result, weighed anew where that is needed; None where it has to run."""
    if entry not in contents:
        return None
    content = contents[entry]
    found = results.find(received, content, conditions.grader_version, conditions.seeds.id_of(content))
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

    Where something else than the submission has ended its child or the zygote, the entry is tried again.

    Args:
        entries: the submissions.
        conditions: as asked for.
        grader: open.
        store: called with each record, once.
        notes: on the runs of some.
    """

    def work(entry: Entry) -> Iterator[Event | Unavailable]:
        try:
            yield from events_in_child(entry, conditions, grader)
        except SandboxUnavailableError as error:
            yield Unavailable(str(error))

    recorders: dict[Entry, Recorder] = {}
    tries: Counter[Entry] = Counter()
    unavailable: set[Entry] = set()
    waiting = deque(entries)
    seconds = conditions.assignment.limits.total_seconds + GRACE_SECONDS
    grader.renew()
    tqdm.monitor_interval = 0  # its thread would be forked along
    with tqdm(desc="class", unit="submission", total=len(entries), disable=not conditions.show_progress) as bar:
        for entry, message in run_forked(waiting, work, seconds, conditions.n_children):
            if entry not in recorders:
                own = (notes or {}).get(entry, ())
                recorders[entry] = Recorder(entry.name, conditions.assignment, conditions.grader_version, own)
            recorder = recorders[entry]
            if isinstance(message, Unavailable):
                recorder.add(GivenUp(message.reason))
                unavailable.add(entry)
            elif not isinstance(message, Ended):
                recorder.add(message)
            else:
                del recorders[entry]
                tries[entry] += 1
                grader.renew()
                was_stopped = message.was_killed or entry in unavailable
                unavailable.discard(entry)
                if was_stopped and tries[entry] < MOST_TRIES:
                    waiting.append(entry)
                    continue
                if recorder.record.run.finished is None:
                    recorder.add(GivenUp(f"the grader's process failed: {message.reason}"))
                store(entry, recorder.record)
                bar.update()


def events_in_child(entry: Entry, conditions: Conditions, grader: Grader) -> Iterator[Event]:
    """The events of grading one entry."""
    try:
        intake = take_in(entry.source, conditions.release, conditions.assignment)
    except IntakeRefusedError as error:
        yield from refusal(error)
    except IntakeError as error:
        yield GivenUp(str(error))
    else:
        yield from events_of(intake, conditions.seeds, grader)
