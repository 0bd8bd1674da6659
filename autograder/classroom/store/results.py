"""Results in a class's database: one transaction for each, so that a killed process loses and doubles none.

Records are sealed on the way in, and what the term's secret has not sealed does not come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import ValidationError
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from ...grading.record import Record
from ...grading.seeds import Seeds
from ..entries import Entry
from .database import Database
from .tables import HandedIn, Kept, Result, Student, Submission, TestResult

BATCH = 100
"""Records in memory at a time."""


@dataclass(frozen=True)
class Stored:
    """A result that this term's grader has written: its id, and the sealed record."""

    id: int
    record: Record


class Results:
    """The results of a class."""

    def __init__(self, database: Database, seeds: Seeds) -> None:
        """Works on a database, with the term's secret."""
        self.database, self._seeds = database, seeds
        self._sealed = lru_cache(maxsize=8)(self._unsealed)  # a regrade reads each record several times in a row
        self._ids: dict[str, int] = {}

    def enrol(self, entries: Sequence[Entry]) -> None:
        """Enters submissions and their students; what is known already is brought up to date."""
        self._ids |= self.database.do(lambda session: enrol(session, entries))

    def add(self, entry: Entry, record: Record) -> Stored:
        """Seals a record and stores it, in one transaction.

        An unfinished result never takes the place of a finished one of the same key. The first result of some files
        counts at once; others wait for `keep`.

        Args:
            entry: what was graded; it is enrolled.
            record: what came out.

        Returns:
            The result that is there now.

        Raises:
            NotWrittenError: where that fails; nothing has changed then.
        """
        record = self._seeds.seal(record)
        submission, text, judgement = self._ids[entry.key], record.model_dump_json(), record.judgement
        key = {"submission_id": submission, "content": judgement.content_hash, "version": judgement.grader_version}
        key |= {"seed_id": judgement.seed_id, "weighting": judgement.weighting}

        def work(session: Session) -> Stored:
            result = session.scalar(select(Result).filter_by(**key)) or Result(**key)
            old = self._stored(result)
            if old and (old.record == record or (old.record.is_finished and not record.is_finished)):
                return old
            result.is_finished, result.record = record.is_finished, text
            result.score, result.max_score = judgement.score, judgement.max_score
            session.add(result)
            session.flush()
            session.execute(delete(TestResult).where(TestResult.result_id == result.id))
            if rows := rows_of_tests(result.id, record):
                session.execute(insert(TestResult), rows)
            kept = session.get(Kept, submission)
            if kept is None or session.get_one(Result, kept.result_id).content != judgement.content_hash:
                session.merge(Kept(submission_id=submission, result_id=result.id))
            return Stored(result.id, record)

        return self.database.do(work)

    def find(self, entry: Entry, content: str, version: str, seed_id: str) -> list[Stored]:
        """The results of an entry's content by a version of the grader, with any weighting."""
        key = {"submission_id": self._ids[entry.key], "content": content, "version": version, "seed_id": seed_id}
        query = select(Result).filter_by(**key).order_by(Result.id)
        return self.database.do(lambda session: [*filter(None, map(self._stored, session.scalars(query)))])

    def kept(self, entry: Entry) -> Stored | None:
        """The result that counts for an entry; None where it has none."""
        query = select(Result).join(Kept, Kept.result_id == Result.id)
        query = query.where(Kept.submission_id == self._ids[entry.key])

        def work(session: Session) -> Stored | None:
            result = session.scalar(query)
            return None if result is None else self._stored(result)

        return self.database.do(work)

    def keep(self, entry: Entry, result: int) -> None:
        """Lets a result count for an entry from now on."""
        submission = self._ids[entry.key]
        self.database.do(lambda session: session.merge(Kept(submission_id=submission, result_id=result)))

    def records(self, keys: Iterable[str]) -> dict[str, Record]:
        """The records that count, by the entry's key; what has none is left out."""
        order = list(keys)

        def work(session: Session) -> dict[str, Record]:
            found = {key: record for key, text in kept_texts(session, order) if (record := self._sealed(text))}
            return {key: found[key] for key in order if key in found}

        return self.database.do(work)

    def forged(self, entries: Iterable[Entry]) -> set[str]:
        """The keys of entries whose result counts, but is not sealed by this term's grader."""
        keys = [entry.key for entry in entries]

        def work(session: Session) -> set[str]:
            return {key for key, text in kept_texts(session, keys) if self._sealed(text) is None}

        return self.database.do(work)

    def _stored(self, result: Result) -> Stored | None:
        record = self._sealed(result.record) if result.record else None
        return Stored(result.id, record) if record else None

    def _unsealed(self, text: str) -> Record | None:
        try:
            record = Record.model_validate_json(text)
        except ValidationError:
            return None
        return record if self._seeds.has_sealed(record) else None


def kept_texts(session: Session, keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Entries and the results that count for them, as they are stored."""
    names = {stored_name(key): key for key in keys}
    query = select(Submission.entry, Result.record).join(Kept, Kept.submission_id == Submission.id)
    rows = session.execute(query.join(Result, Result.id == Kept.result_id).execution_options(yield_per=BATCH))
    return ((names[entry], text) for entry, text in rows if entry in names)


def rows_of_tests(result: int, record: Record) -> list[dict[str, object]]:
    """What is stored of each test of a result."""
    tests = [(part.number, test) for part in record.judgement.parts for test in part.tests]
    return [
        {"result_id": result, "position": position, "part": part}
        | {"test": test.nodeid, "item": test.item, "state": test.state.value}
        for position, (part, test) in enumerate(tests)
    ]


def enrol(session: Session, entries: Sequence[Entry]) -> dict[str, int]:
    """Enters submissions and their students, or brings them up to date; the submissions' ids by entry."""
    students = {student.key: student for student in session.scalars(select(Student))}
    submissions = {one.entry: one for one in session.scalars(select(Submission))}
    owned: dict[int, set[int]] = {}
    for row in session.execute(select(HandedIn.submission_id, HandedIn.student_id)):
        owned.setdefault(row.submission_id, set()).add(row.student_id)
    for one in entries:
        for member in one.members:
            student = students.setdefault(stored_name(member.id), Student(key=stored_name(member.id)))
            student.name, student.email = stored_name(member.name), stored_name(member.ids.get("email", ""))
            student.group_name = stored_name(member.group)
            session.add(student)
        submission = submissions.setdefault(stored_name(one.key), Submission(entry=stored_name(one.key)))
        submission.name = stored_name(one.name)
        session.add(submission)
    session.flush()
    for one in entries:
        submission = submissions[stored_name(one.key)]
        owners = {students[stored_name(member.id)].id for member in one.members}
        if owned.get(submission.id, set()) != owners:
            session.execute(delete(HandedIn).where(HandedIn.submission_id == submission.id))
            rows = [{"submission_id": submission.id, "student_id": owner} for owner in owners]
            if rows:
                session.execute(insert(HandedIn), rows)
    return {one.key: submissions[stored_name(one.key)].id for one in entries}


def stored_name(text: str) -> str:
    """Any text, also a file name that is no Unicode, so that a database takes it; different ones stay different."""
    return stored_text(text.replace("\\", "\\\\"))


def stored_text(text: str) -> str:
    """Text for people, so that a database takes it: without what is no Unicode and zero bytes."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
