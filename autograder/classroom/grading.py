"""Grades a folder of submissions: one zygote and one collection of the tests for all, a forked grader for each.

A submission that breaks its grader or the zygote stops no other. Records that are finished are kept as long as the
submission and everything that decides marks are the same, the seed is the one asked for, and the containment was at
least what is asked for, so that a class that was interrupted goes on where it was.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import traceback
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from foundation.assignment_file import Assignment
from foundation.child_processes import FAILED, run_forked
from foundation.contract import Contract
from foundation.printable_text import printable

from ..grading.one import grade, name_seed, refuse
from ..grading.record import Record, hash_of, read_record
from ..intake import Intake, IntakeError, IntakeRefusedError, name_of, take_in
from ..sandbox import SandboxUnavailableError, Zygote
from ..sandbox.containment.layers import satisfies

GRADED, KEPT, TO_GRADE, UNAVAILABLE = 0, 1, 2, 3
"""Exit statuses of the children."""
INTAKE_SECONDS = 60.0
GRACE_SECONDS = 120.0
"""Wall time of a grader beyond what its submission may take."""
ATTEMPTS = 2
RECORDS = "records"
CLUTTER = {".DS_Store", "__MACOSX", "__pycache__"}


class ClassError(ValueError):
    """A folder that cannot be graded as a class; the message says why."""


@dataclass(frozen=True)
class Submission:
    """One entry of the class's folder, and where its record goes."""

    path: Path
    record: Path
    attempts: int = 1


@dataclass
class ClassGrading:
    """What all submissions of a class are graded with.

    Attributes:
        assignment: tasks, points, thresholds, limits.
        release: the skeleton.
        references: of the test split.
        suite: version of everything that decides marks.
        level: of containment.
        seed: of the tests' random inputs; None = a fresh secret one for each submission.
        n_children: submissions that are graded at a time.
        progress: shows a progress bar.
    """

    assignment: Assignment
    release: Path
    references: Path
    suite: str
    level: str = "auto"
    seed: int | None = None
    n_children: int = 1
    progress: bool = False

    def run(self, submissions: list[Submission], again: bool = False) -> None:
        """Grades what has no record yet, or with `again` everything; a record for each is there afterwards.

        Raises:
            SandboxUnavailableError: where the machine cannot contain any submission as asked.
        """
        to_grade = list(submissions) if again else list(self._without_record(submissions))
        if not to_grade:
            return
        for submission in to_grade:  # what an earlier run left is not taken for the result of this one
            submission.record.unlink(missing_ok=True)
        with _Zygotes(self.level) as zygotes:
            from ..testing.collected_tests import with_tests

            markers = [task.marker for task in self.assignment.tasks if task.components]
            with_tests(markers, lambda tests: self._grade_all(to_grade, tests, zygotes))

    def _without_record(self, submissions: list[Submission]) -> Iterator[Submission]:
        def look(submission: Submission) -> int:
            record = read_record(submission.record)
            if not record or not record["finished"] or not self._is_as_asked(record):
                return TO_GRADE
            try:
                same = hash_of(self._take_in(submission).hashes) == record["graded"]
            except IntakeError:
                return TO_GRADE
            return KEPT if same else TO_GRADE

        for submission, status in run_forked(deque(submissions), look, INTAKE_SECONDS, self.n_children):
            if status != KEPT:
                yield submission

    def _is_as_asked(self, record: dict) -> bool:
        is_seed = self.seed is None or record["seed_id"] == name_seed(self.seed)
        return record["suite"] == self.suite and is_seed and satisfies(self.level, record["sandbox"])

    def _grade_all(self, submissions: list[Submission], tests: object, zygotes: _Zygotes) -> None:
        def work(submission: Submission) -> int:
            try:
                self._grade(submission, tests, zygotes.present)
            except SandboxUnavailableError:
                return UNAVAILABLE
            except IntakeError as error:
                self._blame_ourselves(submission, str(error))
            except Exception:
                traceback.print_exc()
                return FAILED
            return GRADED

        waiting = deque(submissions)
        seconds = self.assignment.limits.total_seconds + GRACE_SECONDS
        zygotes.renew()
        tqdm.monitor_interval = 0  # its thread would be forked along
        with tqdm(desc="class", unit="submission", total=len(submissions), disable=not self.progress) as bar:
            for submission, status in run_forked(waiting, work, seconds, self.n_children):
                zygotes.renew()
                if status == UNAVAILABLE and submission.attempts < ATTEMPTS:
                    waiting.append(replace(submission, attempts=submission.attempts + 1))
                    continue
                if read_record(submission.record) is None:
                    how = f"with status {status}" if status >= 0 else f"by signal {-status}"
                    self._blame_ourselves(submission, f"the grader's process ended {how}")
                bar.update()

    def _grade(self, submission: Submission, tests: object, zygote: Zygote) -> None:
        """In a child: writes the record, early and after each part."""
        try:
            intake = self._take_in(submission)
        except IntakeRefusedError as error:
            record = refuse(name_of(submission.path), error.reason, self.assignment, error.hashes, self.suite)
            record.write(submission.record)
            return
        grade(
            intake,
            self.assignment,
            self.references,
            seed=self.seed,
            suite=self.suite,
            zygote=zygote,
            tests=tests,
            after_each=lambda record: record.write(submission.record),
        )

    def _take_in(self, submission: Submission) -> Intake:
        return take_in(submission.path, self.release, self.assignment)

    def _blame_ourselves(self, submission: Submission, reason: str) -> None:
        """Writes the record of a submission that could not be graded by a fault of ours."""
        record = Record(name_of(submission.path), self.assignment, suite=self.suite)
        record.give_up(reason)
        record.write(submission.record)


class _Zygotes:
    """One zygote at a time; a new one where it has ended."""

    def __init__(self, level: str) -> None:
        self._level = level
        self.present = Zygote(level)

    def renew(self) -> None:
        if not self.present.is_alive():
            self.present.close()
            self.present = Zygote(self._level)

    def __enter__(self) -> _Zygotes:
        return self

    def __exit__(self, *details: object) -> None:
        self.present.close()


def submissions_in(folder: Path, output: Path, contract: Contract) -> list[Submission]:
    """Everything in a folder that is not hidden, in order of names.

    Args:
        folder: each entry is a submission.
        output: where the records go; it may lie in the folder, and is no submission.
        contract: by which a folder that is itself a submission is recognised.

    Raises:
        ClassError: where it is no folder of submissions.
    """
    try:
        entries = sorted(entry for entry in folder.iterdir() if not is_hidden(entry.name))
    except OSError as error:
        raise ClassError(f"{folder}: {error.strerror}; expected a folder with one entry for each submission") from None
    if modules := [entry.name for entry in entries if entry.name in contract.files]:
        raise ClassError(f"{folder}: {modules[0]} lies in it: a submission itself; grade it with `grade {folder}`")
    entries = [entry for entry in entries if entry.resolve() != output.resolve()]
    if not entries:
        raise ClassError(f"{folder}: nothing in it; expected one folder, archive or notebook for each submission")
    hidden = sorted(entry.name for entry in folder.iterdir() if is_hidden(entry.name) and entry.name not in CLUTTER)
    if hidden:
        shown = ", ".join(printable(name, 40) for name in hidden[:8])
        more = f" and {len(hidden) - 8} more" if len(hidden) > 8 else ""
        print(f"note: not graded, as names that begin with . or __ are hidden: {shown}{more}", file=sys.stderr)
    names = record_names([entry.name for entry in entries])
    return [Submission(entry, output / RECORDS / f"{names[entry.name]}.json") for entry in entries]


def is_hidden(name: str) -> bool:
    """Whether an entry of the class's folder is taken for no submission."""
    return name.startswith((".", "__"))


def record_names(names: list[str]) -> dict[str, str]:
    """The record's file name for each entry; no two are the same file, also where a system does not tell cases apart.

    Raises:
        ClassError: for two entries whose names were made to come to the same.
    """
    plain = Counter(file_name(name).casefold() for name in names)
    made = {name: file_name(name) if plain[file_name(name).casefold()] == 1 else with_digest(name) for name in names}
    owners: dict[str, str] = {}
    for name, one in made.items():
        other = owners.setdefault(one.casefold(), name)
        if other != name:
            both = f"{printable(other, 60)} and {printable(name, 60)}"
            raise ClassError(f"{both} would have the same record; rename one of them")
    return made


def file_name(name: str) -> str:
    """The name itself where that does for a file and looks like none that was made of another, else one made of it."""
    if re.fullmatch(r"[\w@+-][\w.@+-]{0,99}", name, re.ASCII) and not re.search(r"-[0-9a-f]{8}$", name, re.IGNORECASE):
        return name
    return with_digest(name)


def with_digest(name: str) -> str:
    """A name for a file, made of a name that does not do for one."""
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9@+-]+', '_', name)[:60]}-{digest}"
