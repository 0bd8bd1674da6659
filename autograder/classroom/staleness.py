"""Which submissions have to be graded: those without a record of what they are now, graded as it is asked for now."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended, run_forked

from ..grading.record import read_record
from ..grading.seeds import Seeds, content_hash
from ..intake import IntakeError, take_in
from ..sandbox.containment.layers import satisfies
from .entries import Entry

INTAKE_SECONDS = 60.0


@dataclass(frozen=True)
class Conditions:
    """What all submissions of a class are graded with.

    Attributes:
        assignment: tasks, points, thresholds, limits.
        release: the skeleton.
        references: of the test split.
        grader_version: of everything that decides marks.
        seeds: for the tests' random inputs.
        level: of containment.
        n_children: how many submissions are graded at a time.
        show_progress: shows a progress bar.
    """

    assignment: Assignment
    release: Path
    references: Path
    grader_version: str
    seeds: Seeds
    level: str = "auto"
    n_children: int = 1
    show_progress: bool = False


def stale(entries: Sequence[Entry], conditions: Conditions) -> list[Entry]:
    """The entries that have to be graded, in their order.

    Submissions are read in children: whatever is wrong with one, or with its record, it is graded anew.
    """

    def look(entry: Entry) -> Iterator[bool]:
        yield is_current(entry, conditions)

    current = set()
    for entry, answer in run_forked(deque(entries), look, INTAKE_SECONDS, conditions.n_children):
        if not isinstance(answer, Ended) and answer:
            current.add(entry)
    return [entry for entry in entries if entry not in current]


def is_current(entry: Entry, conditions: Conditions) -> bool:
    """Whether the entry's record is what grading it now would give."""
    record = read_record(entry.record)
    if record is None or not record.is_finished or not conditions.seeds.has_sealed(record):
        return False
    judgement = record.judgement
    if judgement.grader_version != conditions.grader_version or not satisfies(conditions.level, record.run.layers):
        return False
    if judgement.seed_id != conditions.seeds.id_of(judgement.content_hash):
        return False
    try:
        files = take_in(entry.source, conditions.release, conditions.assignment).hashes
    except IntakeError:
        return False
    return content_hash(files) == judgement.content_hash
