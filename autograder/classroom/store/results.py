"""Results in a class's database: one transaction for each, so that a killed process loses and doubles none.

Records are sealed on the way in, and what the term's secret has not sealed does not come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from ...grading.record import Record, now
from ...grading.seeds import Seeds
from ..entries import Entry, Roll
from .database import Database
from .tables import Attempt, HandedIn, Kept, Result, Run, Student, Submission, TestResult, Version

BATCH = 100
"""Records in memory at a time."""


@dataclass(frozen=True)
class Owner:
    """Who has handed in a submission.

    Attributes:
        key: by which the course knows the student; unique.
        name: for people.
        email: "" = unknown.
        group: whose marks the student shares; "" = none.
    """

    key: str
    name: str
    email: str = ""
    group: str = ""


@dataclass(frozen=True)
class Received:
    """A submission that counts.

    Attributes:
        entry: its key, which stays when the same students hand in again.
        name: for people.
        owners: several for a group.
        submitted: when; None where the platform does not say.
        is_late: what the platform says; None where it does not say.
    """

    entry: str
    name: str
    owners: tuple[Owner, ...]
    submitted: datetime | None = None
    is_late: bool | None = None


def received_of(roll: Roll, entries: Iterable[Entry]) -> dict[str, Received]:
    """What a class has handed in, by the entry's key."""
    owners: dict[str, list[Owner]] = {}
    times = {}
    for member in roll.members:
        if member.key:
            owner = Owner(member.id, member.name, member.ids.get("email", ""), member.group)
            owners.setdefault(member.key, []).append(owner)
            times[member.key] = (member.submitted, member.is_late)
    return {
        entry.key: Received(entry.key, entry.name, tuple(owners.get(entry.key, ())), *times.get(entry.key, ()))
        for entry in entries
    }


@dataclass(frozen=True)
class Stored:
    """A result that this term's grader has written.

    Attributes:
        id: of the result.
        attempt: id of the attempt that it is about.
        run: id of the run that it comes from.
        record: sealed.
        submitted: when it was handed in, if known.
        is_late: what the platform says, if it does.
    """

    id: int
    attempt: int
    run: int
    record: Record
    submitted: datetime | None
    is_late: bool | None


class Results:
    """The results of a class."""

    def __init__(self, database: Database, seeds: Seeds) -> None:
        """Works on a database, with the term's secret."""
        self.database, self._seeds = database, seeds
        self._ids: dict[str, int] = {}

    def enrol(self, received: Iterable[Received]) -> None:
        """Enters submissions and their students; what is known already is brought up to date."""
        everyone = list(received)
        self._ids |= self.database.do(lambda session: enrol(session, everyone))

    def add(self, received: Received, record: Record, run: int | None = None) -> Stored:
        """Seals a record and stores it, in one transaction.

        An unfinished result never takes the place of a finished one of the same key. The first result of an attempt
        is kept at once; others wait for `keep`.

        Args:
            received: what was graded; it is enrolled.
            record: what came out.
            run: the run that it comes from, where it was only weighed anew; by default it is a new run.

        Returns:
            The result that is there now.

        Raises:
            NotWrittenError: where that fails; nothing has changed then.
        """
        record = self._seeds.seal(record)
        submission, text = self._ids[received.entry], record.model_dump_json()
        judgement = record.judgement
        key = {"version_id": judgement.grader_version, "seed_id": judgement.seed_id, "weighting": judgement.weighting}

        def work(session: Session) -> Stored:
            if session.get(Version, judgement.grader_version) is None:
                session.add(Version(id=judgement.grader_version, first_used=now()))
            details = {"submission_id": submission, "content": judgement.content_hash}
            attempt = session.scalar(select(Attempt).filter_by(**details)) or Attempt(**details)
            attempt.submitted, attempt.is_late = received.submitted, received.is_late
            session.add(attempt)
            session.flush()
            result = session.scalar(select(Result).filter_by(attempt_id=attempt.id, **key))
            if result is not None and result.record == text:  # the connection had dropped after it was stored
                return Stored(result.id, attempt.id, result.run_id, record, received.submitted, received.is_late)
            run_id = add_run(session, attempt.id, record) if run is None else run
            if (
                result is not None
                and result.is_finished
                and not record.is_finished
                and (old := self._sealed(result.record))
            ):
                return Stored(result.id, attempt.id, result.run_id, old, received.submitted, received.is_late)
            result = result or Result(attempt_id=attempt.id, **key)
            result.run_id, result.is_finished, result.record = run_id, record.is_finished, text
            result.score, result.max_score = judgement.score, judgement.max_score
            result.needs_review = judgement.score is None
            session.add(result)
            session.flush()
            session.execute(delete(TestResult).where(TestResult.result_id == result.id))
            if rows := rows_of_tests(result.id, record):
                session.execute(insert(TestResult), rows)
            kept = session.get(Kept, submission)
            if kept is None:
                session.add(Kept(submission_id=submission, result_id=result.id))
            elif session.get_one(Result, kept.result_id).attempt_id != attempt.id:
                kept.result_id = result.id
            return Stored(result.id, attempt.id, run_id, record, received.submitted, received.is_late)

        return self.database.do(work)

    def find(self, received: Received, content: str, version: str, seed_id: str) -> list[Stored]:
        """The results of an entry's content by a version of the grader, with any weighting."""
        submission = self._ids[received.entry]

        def work(session: Session) -> list[Stored]:
            attempt = session.scalar(select(Attempt).filter_by(submission_id=submission, content=content))
            if attempt is None:
                return []
            attempt.submitted, attempt.is_late = received.submitted, received.is_late
            found = select(Result).filter_by(attempt_id=attempt.id, version_id=version, seed_id=seed_id)
            stored = (self._stored(result, attempt) for result in session.scalars(found.order_by(Result.id)))
            return [one for one in stored if one is not None]

        return self.database.do(work)

    def kept(self, received: Received) -> Stored | None:
        """The result that counts for an entry; None where it has none."""
        submission = self._ids[received.entry]

        def work(session: Session) -> Stored | None:
            kept = session.get(Kept, submission)
            if kept is None:
                return None
            result = session.get_one(Result, kept.result_id)
            return self._stored(result, session.get_one(Attempt, result.attempt_id))

        return self.database.do(work)

    def records(self, entries: Iterable[str]) -> dict[str, Record]:
        """The records that count, by entry; what has none is left out."""
        order = list(entries)

        def work(session: Session) -> dict[str, Record]:
            found = {entry: record for entry, text in kept_texts(session, order) if (record := self._sealed(text))}
            return {entry: found[entry] for entry in order if entry in found}

        return self.database.do(work)

    def get(self, result: int) -> Stored | None:
        """A result by its id; None where it is not sealed."""

        def work(session: Session) -> Stored | None:
            found = session.get_one(Result, result)
            return self._stored(found, session.get_one(Attempt, found.attempt_id))

        return self.database.do(work)

    def keep(self, received: Received, result: int) -> None:
        """Lets a result count for an entry from now on."""
        submission = self._ids[received.entry]
        self.database.do(lambda session: session.merge(Kept(submission_id=submission, result_id=result)))

    def forged(self, received: Iterable[Received]) -> set[str]:
        """The entries whose result counts, but is not sealed by this term's grader."""
        entries = [one.entry for one in received]

        def work(session: Session) -> set[str]:
            return {entry for entry, text in kept_texts(session, entries) if self._sealed(text) is None}

        return self.database.do(work)

    def _stored(self, result: Result, attempt: Attempt) -> Stored | None:
        record = self._sealed(result.record)
        if record is None:
            return None
        return Stored(result.id, attempt.id, result.run_id, record, attempt.submitted, attempt.is_late)

    def _sealed(self, text: str) -> Record | None:
        try:
            record = Record.model_validate_json(text)
        except ValidationError:
            return None
        return record if self._seeds.has_sealed(record) else None


def kept_texts(session: Session, entries: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Entries and the results that count for them, as they are stored."""
    names = {stored_name(entry): entry for entry in entries}
    query = select(Submission.entry, Result.record).join(Kept, Kept.submission_id == Submission.id)
    rows = session.execute(query.join(Result, Result.id == Kept.result_id).execution_options(yield_per=BATCH))
    return ((names[entry], text) for entry, text in rows if entry in names)


def add_run(session: Session, attempt: int, record: Record) -> int:
    """Adds how a grading went; its id."""
    run = record.run
    row = Run(attempt_id=attempt, version_id=record.judgement.grader_version, started=run.started)
    row.finished, row.host, row.seconds, row.error = run.finished, run.host, run.seconds, run.error
    session.add(row)
    session.flush()
    return row.id


def rows_of_tests(result: int, record: Record) -> list[dict[str, object]]:
    """What is stored of each test of a result."""
    tests = [(part.number, test) for part in record.judgement.parts for test in part.tests]
    return [
        {"result_id": result, "position": position, "part": part}
        | {"test": test.nodeid, "item": test.item, "state": test.state.value}
        for position, (part, test) in enumerate(tests)
    ]


def enrol(session: Session, everyone: Sequence[Received]) -> dict[str, int]:
    """Enters submissions and their students, or brings them up to date; the submissions' ids by entry."""
    students = {student.key: student for student in session.scalars(select(Student))}
    submissions = {one.entry: one for one in session.scalars(select(Submission))}
    owned: dict[int, set[int]] = {}
    for row in session.execute(select(HandedIn.submission_id, HandedIn.student_id)):
        owned.setdefault(row.submission_id, set()).add(row.student_id)
    for one in everyone:
        for owner in one.owners:
            student = students.setdefault(stored_name(owner.key), Student(key=stored_name(owner.key)))
            student.name, student.email = stored_name(owner.name), stored_name(owner.email)
            student.group_name = stored_name(owner.group)
            session.add(student)
        submission = submissions.setdefault(stored_name(one.entry), Submission(entry=stored_name(one.entry)))
        submission.name = stored_name(one.name)
        session.add(submission)
    session.flush()
    for one in everyone:
        submission = submissions[stored_name(one.entry)]
        owners = {students[stored_name(owner.key)].id for owner in one.owners}
        if owned.get(submission.id, set()) != owners:
            session.execute(delete(HandedIn).where(HandedIn.submission_id == submission.id))
            rows = [{"submission_id": submission.id, "student_id": owner} for owner in owners]
            if rows:
                session.execute(insert(HandedIn), rows)
    return {one.entry: submissions[stored_name(one.entry)].id for one in everyone}


def stored_name(text: str) -> str:
    """Any text, also a file name that is no Unicode, so that a database takes it; different ones stay different."""
    return stored_text(text.replace("\\", "\\\\"))


def stored_text(text: str) -> str:
    """Text for people, so that a database takes it: without what is no Unicode and zero bytes."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
