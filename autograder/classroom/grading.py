"""Grades a class: what has to be done for each submission, in children that use one grader, and what counts then.

A submission has to run where there is no finished result of what it is now, or else its stored outcomes are weighed
anew; see `grading.provenance`. Results that change no mark count from now on, others on demand.

A submission that breaks its child or the zygote stops no other. Children send records, which this process stores.

    records/KEY.json    what counts for a submission
    waiting/KEY.json    another result of the same files, which would change its mark, and waits for `--keep`
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tqdm import tqdm

from foundation.command_line import UserError
from foundation.places import SECRET
from foundation.processes import Ended, ask_forked, run_forked
from foundation.texts import first_of, printable
from foundation.whole_files import make_folder

from ..grading.provenance import Seeds, weighting_of
from ..grading.record import Judgement, Part, Record, content_hash, new_record, read_record, write_record
from ..grading.submission import Conditions, grade_submission, open_grader
from ..intake.sources import IntakeError
from ..intake.submission import IntakeRefusedError, take_in
from ..platforms.platform import HandedIn
from ..sandbox.errors import SandboxUnavailableError
from ..sandbox.layers import satisfies
from .marks import Mark, mark_of, weighed

if TYPE_CHECKING:  # needs PyTorch, which the launcher imports
    from ..grading.judging import Grader

RECORDS, WAITING = "records", "waiting"
ChangeFor: TypeAlias = "Callable[[HandedIn, Judgement, Judgement], Change | None]"
TIMES, GRACE_SECONDS = 5, 330.0  # reading, searching and checking have limits of their own: 60, 30 and 180 s
"""Wall time of a child: so often all that calls may take (tests, their diagnosis, own tests twice, hunts), and more."""
INTAKE_SECONDS = 60.0
MOST_TESTS, MOST_CHARACTERS = 3, 400
"""The number of tests that are named for a part; and of characters."""


class Results:
    """The results of a class, by the keys of its entries."""

    def __init__(self, output: Path, seeds: Seeds) -> None:
        """In an output folder, sealed with the term's secret. Raises: UserError where another has sealed them all."""
        self._output, self._seeds = output, seeds
        seals = map(seeds.has_sealed, filter(None, map(read_record, (output / RECORDS).glob("*.json"))))
        if not next(seals, True) and not any(seals):  # the first one that is ours ends it
            fault = f"graded with another secret than {SECRET}; copy that one here, or name another folder"
            raise UserError(f"{output}: {fault}")

    def kept(self, key: str, folder: str = RECORDS) -> Record | None:
        """The sealed record of an entry: the one that counts, or the one that waits; None where there is none."""
        record = read_record(self._path(folder, key))
        return record if record and self._seeds.has_sealed(record) else None

    def keep(self, key: str, record: Record, folder: str = RECORDS) -> None:
        """Lets a record count from now on, or wait, by the folder. Raises: OSError where that fails."""
        if record != self.kept(key, folder):
            write_record(self._path(folder, key), self._seeds.seal(record))
        if folder == RECORDS:
            self._path(WAITING, key).unlink(missing_ok=True)

    def records(self, keys: Iterable[str]) -> dict[str, Record]:
        """The records that count, by key; what has none is left out."""
        return {key: record for key in keys if (record := self.kept(key))}

    def _path(self, folder: str, key: str) -> Path:
        return self._output / folder / f"{key}.json"


@contextlib.contextmanager
def hold(output: Path, is_alone: bool = True) -> Iterator[None]:
    """Keeps a folder of results for this process, or for all that share it. Raises: UserError where another has it."""
    make_folder(output)
    descriptor = os.open(output, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{output}: another command is writing there; wait until it has ended") from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class Change:
    """A mark of the same files that becomes another one."""

    points: str  # before and after, such as "94 → 94.5"
    parts: tuple[str, ...]  # those whose marks change, by how much and why
    is_kept: bool = False  # whether the new result counts already
    has_failed: bool = False  # whether the grader failed this time; then the earlier result stays in any case


def grade_class(
    entries: Sequence[HandedIn],
    conditions: Conditions,
    results: Results,
    again: bool = False,
    keeps_changes: bool = False,
    change_for: ChangeFor = lambda entry, old, new: change_of(mark_of(old), mark_of(new)),
) -> dict[str, Change]:
    """Grades what has no result yet of what it is now, weighs anew what needs only that, and lets the results count.

    Where `again`, everything runs; changed marks of the same files count only where `keeps_changes`. Returns the
    changes, kept or not, by the entry's key; `change_for` returns the change for the students of an entry.

    Raises: OSError where a result cannot be stored; SandboxUnavailableError where there is no sandbox as asked.
    """
    changes: dict[str, Change] = {}

    def settle(entry: HandedIn, record: Record) -> None:
        """Stores a new result, which counts or waits; where the grader failed, an earlier one stays."""
        old = results.kept(entry.key)
        if old is None or not old.is_finished or old.judgement.content_hash != record.judgement.content_hash:
            results.keep(entry.key, record)
            return
        change = change_for(entry, old.judgement, record.judgement)
        is_kept = record.is_finished and (change is None or keeps_changes)
        if record.is_finished:
            results.keep(entry.key, record, RECORDS if is_kept else WAITING)
        if change:
            changes[entry.key] = replace(change, is_kept=is_kept, has_failed=not record.is_finished)

    to_grade = list(entries)
    if not again:
        for entry, content in contents_of(entries, conditions).items():
            if done := present_result(entry, content, conditions, results):
                to_grade.remove(entry)
                settle(entry, done)
    if to_grade:
        with open_grader(conditions.assignment, conditions.references, conditions.level) as grader:
            grade_all(to_grade, conditions, grader, settle)
    return {entry.key: changes[entry.key] for entry in entries if entry.key in changes}


def contents_of(entries: Sequence[HandedIn], conditions: Conditions) -> dict[HandedIn, str]:
    """A hash over the files of each submission that can be read, in children as all that reads submissions."""

    def look(entry: HandedIn) -> str:
        try:
            return content_hash(take_in(entry.source, conditions.release, conditions.assignment).hashes)
        except IntakeError:
            return ""

    tqdm.monitor_interval = 0  # its thread would be forked along
    answers = ask_forked(entries, look, INTAKE_SECONDS, conditions.n_children)
    shown = tqdm(answers, "reading", len(entries), unit="submission", leave=False, disable=None)
    return {entry: answer for entry, answer in shown if answer and not isinstance(answer, Ended)}


def present_result(entry: HandedIn, content: str, conditions: Conditions, results: Results) -> Record | None:
    """The result of an entry's present content, weighed anew where that is needed; None where it has to run."""
    usable, present = [], (content, conditions.grader_version, conditions.seeds.id_of_tests)
    for record in filter(None, (results.kept(entry.key, folder) for folder in (RECORDS, WAITING))):
        graded = record.judgement
        is_present = (graded.content_hash, graded.grader_version, graded.seed_id) == present
        if is_present and record.is_finished and satisfies(conditions.level, record.run.layers):
            usable.append(record)
    for record in usable:
        if record.judgement.weighting == weighting_of(conditions.assignment):
            return record
    return usable[0].changed(judgement=weighed(usable[0].judgement, conditions.assignment)) if usable else None


def grade_all(
    entries: Sequence[HandedIn], conditions: Conditions, grader: Grader, store: Callable[[HandedIn, Record], None]
) -> None:
    """Grades each entry in a child of this process, and calls `store` with its record, once.

    Where something else than the submission has ended its child or the zygote, the record is not finished, so that
    the next run of the class grades it again.
    """
    assignment = conditions.assignment
    records = {entry: new_record(entry.name, assignment, conditions.grader_version) for entry in entries}
    grader.renew()
    tqdm.monitor_interval = 0  # its thread would be forked along
    seconds = TIMES * assignment.limits.total_seconds + GRACE_SECONDS
    with tqdm(desc="class", unit="submission", total=len(entries), disable=None) as bar:
        for entry, message in run_forked(
            entries, lambda entry: _grade_entry(entry, conditions, grader), seconds, conditions.n_children
        ):
            if not isinstance(message, Ended):
                records[entry] = message
                continue
            grader.renew()
            record = records.pop(entry)
            if record.run.finished is None:
                record = record.given_up(f"the grader's process failed: {message.reason}")
            store(entry, record)
            bar.update()


def _grade_entry(entry: HandedIn, conditions: Conditions, grader: Grader) -> Iterator[Record]:
    blank = record = new_record(entry.name, conditions.assignment, conditions.grader_version)
    try:
        intake = take_in(entry.source, conditions.release, conditions.assignment)
        for record in grade_submission(intake, blank, conditions.seeds, grader):
            yield record
    except IntakeRefusedError as error:
        yield blank.refused(error.reason, error.hashes)
    except (IntakeError, SandboxUnavailableError) as error:  # the latter perhaps since something has ended the zygote
        yield record.given_up(str(error))


def change_of(old: Mark, new: Mark) -> Change | None:
    """The difference of two marks of one submission; None where there is none, or the student is excused.

    No points are the same of any maximum. Where people have decided on the whole, only its maximum may change.
    """
    if new.excused:
        return None
    before, after = ({mark.part.number: mark for mark in whole.parts if not new.by_hand} for whole in (old, new))
    lines = []
    for number, some in {**before, **after}.items():
        sides = before.get(number), after.get(number)
        scores = [mark.score if mark else None for mark in sides]
        points = [mark.part.points if mark and not mark.part.extension else 0 for mark in sides]
        is_other, has_other_points = scores[0] != scores[1], points[0] != points[1]
        if (is_other and all(sides)) or ((is_other or has_other_points) and any(scores)):
            reasons = "; ".join(_reasons(*(mark.part for mark in sides if mark)))
            changed = f"{number} {some.part.title}: {_points(scores[0])} → {_points(scores[1])}"
            lines.append(f"{changed} ({printable(reasons, MOST_CHARACTERS)})" if reasons else changed)
    has_other_maximum = old.max_score != new.max_score
    if not lines and old.score == new.score and not (has_other_maximum and new.score):
        return None
    totals = [_points(mark.score) + f" of {mark.max_score:g}" * has_other_maximum for mark in (old, new)]
    return Change(" → ".join(totals), tuple(lines))


def _points(score: float | None) -> str:
    return "no mark" if score is None else f"{score:g}"


def _reasons(was: Part, is_now: Part | None = None) -> Iterator[str]:
    """Tests that end otherwise than before, or new points; none where weights or BLEU changed, or the task is new."""
    if is_now is None:
        return
    if was.points != is_now.points:
        yield f"worth {was.points:g} points before, {is_now.points:g} now"
    before, after = ({test.nodeid: test for test in part.tests} for part in (was, is_now))
    tests = []
    for nodeid, test in {**before, **after}.items():
        old, new = (side[nodeid].state if nodeid in side else "no such test" for side in (before, after))
        if old != new:
            tests.append(f"{test.name}: {old} → {new}")
    if not tests and was.state != is_now.state:
        tests = [f"{was.state} → {is_now.state}"]
    if tests:
        yield first_of(tests, MOST_TESTS)
