"""What has to be done for each submission (run it, weigh its stored outcomes anew, or nothing), and what counts then.

Results that change no mark count from now on, others on demand.

A submission has to run where there is no finished result of what it is now: after a change of its files, of tests,
limits, references, packages or the grader's code that decides outcomes. After a change of points, thresholds, credit or
titles alone, its stored outcomes are weighed anew; see `grading.grader_version`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended, ask_forked
from foundation.texts import printable

from ..grading.grader_version import weighting_of
from ..grading.record import Judgement, Part, Record
from ..grading.seeds import Seeds, content_hash
from ..intake import IntakeError, take_in
from ..sandbox.layers import satisfies
from .entries import Entry
from .marks import weighed
from .records import Results

MOST_TESTS = 3
"""How many tests are named for a part."""
INTAKE_SECONDS = 60.0
FAILED_THIS_TIME = "the grader failed this time, so that the earlier result stays"


@dataclass(frozen=True)
class Conditions:
    """What all submissions of a class are graded with."""

    assignment: Assignment  # tasks, points, thresholds, limits
    release: Path  # the skeleton
    references: Path  # of the test split
    grader_version: str  # of everything that decides outcomes
    seeds: Seeds  # for the tests' random inputs
    level: str = "auto"  # of containment
    n_children: int = 1  # how many submissions are graded at a time
    show_progress: bool = False

    @cached_property
    def weighting(self) -> str:
        """The version of points, thresholds and credit."""
        return weighting_of(self.assignment)


def contents_of(entries: Sequence[Entry], conditions: Conditions) -> dict[Entry, str]:
    """A hash over the files of each submission that can be read.

    Submissions are read in children: whatever is wrong with one stops no other.
    """

    def look(entry: Entry) -> str:
        try:
            return content_hash(take_in(entry.source, conditions.release, conditions.assignment).hashes)
        except IntakeError:
            return ""

    contents = {}
    tqdm.monitor_interval = 0  # its thread would be forked along
    answers = ask_forked(entries, look, INTAKE_SECONDS, conditions.n_children)
    is_hidden = not conditions.show_progress
    for entry, answer in tqdm(answers, "reading", len(entries), unit="submission", leave=False, disable=is_hidden):
        if answer and not isinstance(answer, Ended):
            contents[entry] = answer
    return contents


def present_result(entry: Entry, content: str, conditions: Conditions, results: Results) -> Record | None:
    """The result of an entry's present content, weighed anew where that is needed; None where it has to run."""
    usable = []
    for record in filter(None, (results.kept(entry.key), results.waiting(entry.key))):
        found = record.judgement.content_hash, record.judgement.grader_version, record.judgement.seed_id
        is_present = found == (content, conditions.grader_version, conditions.seeds.id_of_tests)
        if is_present and record.is_finished and satisfies(conditions.level, record.run.layers):
            usable.append(record)
    for record in usable:
        if record.judgement.weighting == conditions.weighting:
            return record
    return usable[0].changed(judgement=weighed(usable[0].judgement, conditions.assignment)) if usable else None


@dataclass(frozen=True)
class PartChange:
    """A part whose mark is another one; points are None where there were none yet, or no such part."""

    number: str
    title: str
    before: float | None
    after: float | None
    reasons: tuple[str, ...]  # tests that end otherwise than before, or new points; empty: weights or BLEU


@dataclass(frozen=True)
class Change:
    """A submission whose mark is another one: points in all (None where a person has to decide), and the parts."""

    before: float | None
    after: float | None
    parts: tuple[PartChange, ...]


@dataclass(frozen=True)
class Held:
    """A mark of the same files that changes."""

    entry: Entry
    change: Change
    is_kept: bool = False  # whether the new result counts already
    has_failed: bool = False  # whether the grader failed this time; then the earlier result stays in any case


def settle(entry: Entry, record: Record, results: Results, keeps_changes: bool) -> Held | None:
    """Stores a new result and lets it count; if it changes a mark of the same files, only if `keeps_changes`.

    Where the grader failed this time, an earlier result of the same files stays in any case.

    Returns:
        The change, kept or not; None where there is none.
    """
    old = results.kept(entry.key)
    if old is None or not old.is_finished or old.judgement.content_hash != record.judgement.content_hash:
        results.keep(entry.key, record)
        return None
    change = change_of(old.judgement, record.judgement)
    if not record.is_finished:
        print(f"note: {printable(entry.entry)}: {FAILED_THIS_TIME}", file=sys.stderr)
        return Held(entry, change, has_failed=True) if change else None
    if change is None or keeps_changes:
        results.keep(entry.key, record)
    else:
        results.wait(entry.key, record)
    return Held(entry, change, is_kept=keeps_changes) if change else None


def change_of(old: Judgement, new: Judgement) -> Change | None:
    """What is different in the marks of two judgements of one submission; None where nothing is."""
    before, after = ({part.number: part for part in one.parts} for one in (old, new))
    parts = []
    for number in dict.fromkeys((*before, *after)):
        was, is_now = before.get(number), after.get(number)
        if _worth(was) != _worth(is_now):
            title = (is_now or was or new.parts[0]).title
            old_score, new_score = (None if part is None else part.score for part in (was, is_now))
            parts.append(PartChange(number, title, old_score, new_score, tuple(_reasons(was, is_now))))
    if not parts and (old.score, old.max_score) == (new.score, new.max_score):
        return None
    return Change(old.score, new.score, tuple(parts))


def _worth(part: Part | None) -> tuple[float | None, float] | None:
    return None if part is None else (part.score, part.points)


def _reasons(was: Part | None, is_now: Part | None) -> Iterator[str]:
    if was is None or is_now is None:
        yield "a new task" if was is None else "no task any more"
        return
    if was.points != is_now.points:
        yield f"worth {was.points:g} points before, {is_now.points:g} now"
    before, after = ({test.nodeid: test for test in part.tests} for part in (was, is_now))
    tests = []
    for nodeid, test in {**before, **after}.items():
        old, new = (found[nodeid].state if nodeid in found else "no such test" for found in (before, after))
        if old != new:
            tests.append(f"{test.name}: {old} → {new}")
    yield from tests[:MOST_TESTS]
    if len(tests) > MOST_TESTS:
        yield f"and {len(tests) - MOST_TESTS} more tests"
    if not tests and was.state != is_now.state:
        yield f"{was.state} → {is_now.state}"
