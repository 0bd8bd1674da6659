"""Grades the submissions of a class: one zygote and one collection of the tests for all, a forked child for each.

A submission that breaks its child or the zygote stops no other. The children send what they find out, and this
process alone writes records.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tqdm import tqdm

from foundation.child_processes import Ended, run_forked
from foundation.printable_text import printable

from ..grading.events import Event, GivenUp
from ..grading.launcher import open_grader
from ..grading.record import read_record
from ..grading.recording import Recorder
from ..grading.submission import events_of, refusal
from ..intake import IntakeError, IntakeRefusedError, take_in
from ..sandbox.errors import SandboxUnavailableError
from .entries import Entry
from .records import hold, store
from .staleness import Conditions, stale

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


def grade_class(entries: Sequence[Entry], conditions: Conditions, again: bool = False) -> None:
    """Grades what has no up-to-date record yet, or with `again` everything; each entry has a record afterwards.

    Raises:
        ClassError: where another process writes to the same records.
        NotWrittenError: where a record cannot be written; those that were finished stay.
        SandboxUnavailableError: where the machine cannot contain any submission as asked.
    """
    with contextlib.ExitStack() as stack:
        for folder in {entry.record.parent for entry in entries}:
            stack.enter_context(hold(folder))
        to_grade = list(entries) if again else stale(entries, conditions)
        if to_grade:
            grader = stack.enter_context(open_grader(conditions.assignment, conditions.references, conditions.level))
            grade_all(to_grade, conditions, grader)


def grade_all(entries: Sequence[Entry], conditions: Conditions, grader: Grader) -> None:
    """Grades each entry in a child of this process, and stores its record.

    Where something else than the submission has ended its child or the zygote, the entry is tried again.
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
    forged = not_ours(entries, conditions)
    seconds = conditions.assignment.limits.total_seconds + GRACE_SECONDS
    grader.renew()
    tqdm.monitor_interval = 0  # its thread would be forked along
    with tqdm(desc="class", unit="submission", total=len(entries), disable=not conditions.show_progress) as bar:
        for entry, message in run_forked(waiting, work, seconds, conditions.n_children):
            if entry not in recorders:
                notes = (NOT_OURS,) if entry in forged else ()
                recorders[entry] = Recorder(entry.name, conditions.assignment, conditions.grader_version, notes)
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
                store(entry.record, recorder.record, conditions.seeds)
                bar.update()


def not_ours(entries: Sequence[Entry], conditions: Conditions) -> set[Entry]:
    """The entries whose records this term's grader has not written; says so."""
    present = {entry: read_record(entry.record) for entry in entries}
    found = {entry for entry, record in present.items() if record and not conditions.seeds.has_sealed(record)}
    for entry in entries:
        if entry in found:
            print(f"note: {printable(entry.entry)}: {NOT_OURS}", file=sys.stderr)
    return found


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
