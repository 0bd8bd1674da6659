"""What has to be done for each submission (run it, weigh its stored outcomes anew, or nothing), and what counts then.

Results that change no mark count from now on, others on demand.

A submission has to run where there is no finished result of what it is now: after a change of its files, of tests,
limits, references, packages or the grader's code that decides outcomes. After a change of points, thresholds, credit or
titles alone, its stored outcomes are weighed anew; see `grading.grader_version`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.child_processes import Ended, ask_forked

from ..grading.grader_version import weighting_of
from ..grading.record import Judgement, Part, Record
from ..grading.seeds import Seeds, content_hash
from ..intake import IntakeError, take_in
from ..sandbox.containment.layers import satisfies
from ..testing.results import State
from .entries import Entry
from .store import Received, Results, Stored

MOST_TESTS = 3
"""How many tests are named for a part."""
INTAKE_SECONDS = 60.0


@dataclass(frozen=True)
class PartChange:
    """A part whose mark is another one.

    Attributes:
        number: of the task.
        title: likewise.
        before: points; None where there were none yet, or no such part.
        after: likewise.
        reasons: tests that end otherwise than before, new points, or a new BLEU; empty where only messages differ.
    """

    number: str
    title: str
    before: float | None
    after: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A submission whose mark is another one.

    Attributes:
        before: points in all; None where a person had to decide.
        after: likewise.
        parts: those that differ.
    """

    before: float | None
    after: float | None
    parts: tuple[PartChange, ...]


def change_of(old: Judgement, new: Judgement) -> Change | None:
    """What is different in the marks of two judgements of one submission; None where nothing is."""
    parts = tuple(_part_changes(old, new))
    if not parts and (old.score, old.max_score) == (new.score, new.max_score):
        return None
    return Change(old.score, new.score, parts)


def _part_changes(old: Judgement, new: Judgement) -> Iterator[PartChange]:
    before, after = ({part.number: part for part in one.parts} for one in (old, new))
    for number in dict.fromkeys((*before, *after)):
        was, is_now = before.get(number), after.get(number)
        if _worth(was) != _worth(is_now):
            reasons = tuple(_reasons(was, is_now, old, new))
            title = (is_now or was or new.parts[0]).title
            old_score, new_score = (None if part is None else part.score for part in (was, is_now))
            yield PartChange(number, title, old_score, new_score, reasons)


def _worth(part: Part | None) -> tuple[float | None, float] | None:
    return None if part is None else (part.score, part.points)


def _reasons(was: Part | None, is_now: Part | None, old: Judgement, new: Judgement) -> Iterator[str]:
    if was is None or is_now is None:
        yield "a new task" if was is None else "no task any more"
        return
    if was.points != is_now.points:
        yield f"worth {was.points:g} points before, {is_now.points:g} now"
    worth = {item.name: item.points for item in was.items}
    for item in is_now.items if was.points == is_now.points else ():
        if item.points != worth.get(item.name, item.points):
            yield f"{item.name}: worth {worth[item.name]:g} points before, {item.points:g} now"
    states = [{test.nodeid: (test.name, test.state) for test in part.tests} for part in (was, is_now)]
    tests = list(_test_changes(*states))
    yield from tests[:MOST_TESTS]
    if len(tests) > MOST_TESTS:
        yield f"and {len(tests) - MOST_TESTS} more tests"
    if not was.components and old.bleu != new.bleu:
        values = ("none" if one is None else f"{one.value:.4f}" for one in (old.bleu, new.bleu))
        yield f"BLEU {' → '.join(values)}"
    elif not was.components and was.state != is_now.state:
        yield f"the threshold: {was.state} → {is_now.state}"
    elif was.state != is_now.state and not tests:
        yield f"{was.state} → {is_now.state}"


def _test_changes(before: dict[str, tuple[str, State]], after: dict[str, tuple[str, State]]) -> Iterator[str]:
    for test in dict.fromkeys((*before, *after)):
        was, is_now = before.get(test), after.get(test)
        if was is None and is_now is not None:
            yield f"{is_now[0]}: new, {is_now[1]}"
        elif was is not None and is_now is None:
            yield f"{was[0]}: {was[1]} → no test any more"
        elif was is not None and is_now is not None and was[1] != is_now[1]:
            yield f"{is_now[0]}: {was[1]} → {is_now[1]}"


@dataclass(frozen=True)
class Held:
    """A mark that would change.

    Attributes:
        entry: the submission.
        change: what would change, and why.
        is_kept: whether the new result counts already.
        has_failed: whether the grader failed this time; then the earlier result stays in any case.
    """

    entry: Entry
    change: Change
    is_kept: bool = False
    has_failed: bool = False


def repeated(
    entry: Entry, received: Received, record: Record, results: Results, keeps_changes: bool
) -> tuple[int, Held] | None:
    """A mark that another run of the same files, by the same version with the same seed, would change.

    There is one result of these, so that the new one must take the place of the one that counts, or not be stored.

    Args:
        entry: the submission.
        received: the same.
        record: of the new run.
        results: of the class.
        keeps_changes: whether changed marks count.

    Returns:
        The id of the result that counts at present, and the change; None where the mark is the same, the two are not of
        the same files, version and seed, or the grader failed over either.
    """
    old = results.kept(received)
    if old is None or _key(old.record) != _key(record) or not (old.record.is_finished and record.is_finished):
        return None
    change = change_of(old.record.judgement, record.judgement)
    return None if change is None else (old.id, Held(entry, change, keeps_changes))


def _key(record: Record) -> tuple[str, ...]:
    judgement = record.judgement
    return (judgement.content_hash, judgement.grader_version, judgement.seed_id, judgement.weighting)


def keep_newest(
    entries: Sequence[Entry],
    received: Mapping[str, Received],
    newest: Mapping[str, int],
    results: Results,
    keeps_changes: bool,
) -> list[Held]:
    """Lets the newest results count, but for those that change a mark for the same files.

    Args:
        entries: the submissions.
        received: by the entry's key.
        newest: ids of results, likewise.
        results: of the class.
        keeps_changes: whether changed marks count, too.

    Returns:
        The changes, kept or not.
    """
    found = []
    for entry in entries:
        who, result = received[entry.key], newest[entry.key]
        old = results.kept(who)
        if old is not None and old.id == result:
            continue
        new = results.get(result)
        change = change_of(old.record.judgement, new.record.judgement) if old and new else None
        if old is None or new is None or old.attempt != new.attempt or not old.record.is_finished or change is None:
            results.keep(who, result)
            continue
        has_failed = not new.record.is_finished
        is_kept = keeps_changes and not has_failed
        if is_kept:
            results.keep(who, result)
        found.append(Held(entry, change, is_kept, has_failed))
    return found


@dataclass(frozen=True)
class Conditions:
    """What all submissions of a class are graded with.

    Attributes:
        assignment: tasks, points, thresholds, limits.
        release: the skeleton.
        references: of the test split.
        grader_version: of everything that decides outcomes.
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


class Need(Enum):
    """What has to be done for a submission."""

    RUN = auto()
    WEIGHING = auto()
    NOTHING = auto()


def need_of(stored: Sequence[Stored], conditions: Conditions) -> tuple[Need, Stored | None]:
    """What has to be done, and the result that it can be done with.

    Args:
        stored: results of the submission's present content, by the present version of the grader and the present seed.
        conditions: as asked for now.
    """
    usable = [one for one in stored if one.record.is_finished and satisfies(conditions.level, one.record.run.layers)]
    weighting = weighting_of(conditions.assignment)
    for one in usable:
        if one.record.judgement.weighting == weighting:
            return Need.NOTHING, one
    return (Need.WEIGHING, usable[-1]) if usable else (Need.RUN, None)


def contents_of(
    entries: Sequence[Entry], release: Path, assignment: Assignment, n_children: int, show_progress: bool = False
) -> tuple[dict[Entry, str], dict[Entry, str]]:
    """A hash over the files of each submission that can be read, and why others cannot.

    Submissions are read in children: whatever is wrong with one stops no other. Where reading itself breaks, the
    submission is in neither.

    Args:
        entries: the submissions.
        release: the skeleton.
        assignment: whose files are read.
        n_children: how many read at a time.
        show_progress: shows a progress bar.
    """

    def look(entry: Entry) -> tuple[str, str]:
        try:
            return content_hash(take_in(entry.source, release, assignment).hashes), ""
        except IntakeError as error:
            return "", error.reason

    contents, unreadable = {}, {}
    tqdm.monitor_interval = 0  # its thread would be forked along
    answers = ask_forked(entries, look, INTAKE_SECONDS, n_children)
    total = len(entries)
    for entry, answer in tqdm(answers, "reading", total, unit="submission", leave=False, disable=not show_progress):
        if not isinstance(answer, Ended):
            content, reason = answer
            if content:
                contents[entry] = content
            else:
                unreadable[entry] = reason
    return contents, unreadable
