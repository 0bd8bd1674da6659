"""A class's folder of marks: a sealed record for each submission, and the decisions of people.

    records/KEY.json    what counts for a submission
    waiting/KEY.json    another result of the same files, which would change its mark; see `grading.settle`
    decisions.jsonl     points, comments and late days by hand, a line each; the last one counts, earlier ones stay

Each record is written in one piece or not at all, so that a process that is killed loses nothing that was finished.
What the term's secret has not sealed is not read. Decisions belong to a student and a task, not to a result, so they
outlive every regrade.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field, ValidationError

from foundation.command_line import UserError
from foundation.whole_files import make_folder

from ..grading.provenance import Seeds
from ..grading.record import Model, NotWrittenError, Record, now, read_record, write_record

RECORDS, WAITING, DECISIONS = "records", "waiting", "decisions.jsonl"
WHOLE = ""
"""In the place of a task's number: the whole submission."""


class Results:
    """The results of a class, by the keys of its entries."""

    def __init__(self, output: Path, seeds: Seeds) -> None:
        """In an output folder, sealed with the term's secret."""
        self._output, self._seeds = output, seeds

    def kept(self, key: str, folder: str = RECORDS) -> Record | None:
        """The sealed record of an entry: the one that counts, or the one that waits; None where there is none."""
        record = read_record(self._path(folder, key))
        return record if record and self._seeds.has_sealed(record) else None

    def keep(self, key: str, record: Record, folder: str = RECORDS) -> None:
        """Lets a record count from now on, or wait, by the folder. Raises: NotWrittenError where that fails."""
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
    """Keeps a folder of results, which is made where it is missing, for this process, or for all that share it.

    Raises: UserError where another process holds it; NotWrittenError where no files can be created in it.
    """
    try:
        make_folder(output)
        descriptor = os.open(output, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NotWrittenError(output, error) from None
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


class Decision(Model):
    """One decision by hand."""

    student: str  # the id by which the course knows the student
    kind: Literal["points", "comment", "late", "excused"]
    task: str = WHOLE  # its number, of points and comments
    value: float | None = None  # points, days, or 1 = excused; None: as the grader and the platform have it
    items: tuple[str, ...] = ()  # of the task's rubric, which are given instead of points
    helps: bool = False  # whether the points were more than the grader's; then they never count for less than these
    text: str  # why, or the comment; an empty one takes an earlier comment back
    by: str  # who decided
    at: datetime = Field(default_factory=now)


Decided: TypeAlias = Mapping[tuple[str, str], Decision]
"""All that counts for one student, by kind and task; `WHOLE` for late days and comments on the whole."""


def decide(output: Path, decision: Decision) -> None:
    """Enters a decision about a student of the class in a folder. Raises: NotWrittenError where that fails."""
    try:
        with (output / DECISIONS).open("a", encoding="utf-8") as file:
            file.write(f"{decision.model_dump_json()}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise NotWrittenError(output / DECISIONS, error) from None


def decisions_in(output: Path) -> dict[str, Decided]:
    """All that counts of a class, by the student's id. Raises: UserError where a line is none of ours."""
    path = output / DECISIONS
    decided: dict[str, dict[tuple[str, str], Decision]] = {}
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), start=1):
        try:
            decision = Decision.model_validate_json(line)
        except ValidationError:
            raise UserError(f"{path}, line {number}: no decision; expected a line as `override` writes it") from None
        about = decision.kind, decision.task
        of_student = decided.setdefault(decision.student, {})
        of_student.pop(about, None)
        if decision.text if decision.kind == "comment" else decision.items or decision.value is not None:
            of_student[about] = decision
    return {student: own for student, own in decided.items() if own}
