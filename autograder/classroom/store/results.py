"""Results in a class's database: one transaction for each, so that a killed process loses and doubles none.

Records are sealed on the way in, and what the term's secret has not sealed does not come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from ...grading.record import Record, now
from ...grading.seeds import Seeds
from .database import Database
from .tables import Attempt, HandedIn, Kept, Result, Run, Student, Submission, TestResult, Version

BATCH = 100
"""Records in memory at a time."""


@dataclass(frozen=True)
class Owner:
    """Who has handed in a submission.

    Attributes:
        key: unique in the course; without a roster, the entry's name.
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
    """One entry of the class's folder, as the store wants it.

    Attributes:
        entry: its name, unique in the class.
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

        def work(session: Session) -> dict[str, int]:
            students = {student.key: student for student in session.scalars(select(Student))}
            submissions = {one.entry: one for one in session.scalars(select(Submission))}
            owned: dict[int, set[int]] = {}
            for pair in session.execute(select(HandedIn.submission_id, HandedIn.student_id)):
                owned.setdefault(pair.submission_id, set()).add(pair.student_id)
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

        self._ids |= self.database.do(work)

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
        submission = self._ids[received.entry]

        def work(session: Session) -> Stored:
            attempt = _attempt(session, submission, received, record.judgement.content_hash)
            result = _result(session, attempt, record)
            if result.id is not None and result.is_finished and not record.is_finished:
                present = self._stored(result, attempt)
                if present is not None:
                    _add_run(session, attempt, record)
                    return present
            result.run_id = _add_run(session, attempt, record) if run is None else run
            _fill(session, result, record)
            kept = session.get(Kept, submission)
            if kept is None:
                session.add(Kept(submission_id=submission, result_id=result.id))
            elif session.get_one(Result, kept.result_id).attempt_id != attempt.id:
                kept.result_id = result.id
            return Stored(result.id, attempt.id, result.run_id, record, attempt.submitted, attempt.is_late)

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

    def all_kept(self, received: Iterable[Received]) -> Iterator[tuple[Received, Stored]]:
        """The results that count, one after the other; entries without one are left out."""
        for one in received:
            stored = self.kept(one)
            if stored is not None:
                yield one, stored

    def keep(self, received: Received, result: int) -> None:
        """Lets a result count for an entry from now on."""
        submission = self._ids[received.entry]
        self.database.do(lambda session: session.merge(Kept(submission_id=submission, result_id=result)))

    def forged(self) -> set[str]:
        """The entries, as `stored_name` gives them, whose result counts and is not sealed by this term's grader."""

        def work(session: Session) -> set[str]:
            query = select(Submission.entry, Result.record).join(Kept, Kept.submission_id == Submission.id)
            rows = session.execute(query.join(Result, Result.id == Kept.result_id).execution_options(yield_per=BATCH))
            return {entry for entry, text in rows if self._sealed(text) is None}

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


def stored_name(text: str) -> str:
    """Any text, also a file name that is no Unicode, so that a database takes it; different ones stay different."""
    return text.replace("\\", "\\\\").replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()


def _attempt(session: Session, submission: int, received: Received, content: str) -> Attempt:
    attempt = session.scalar(select(Attempt).filter_by(submission_id=submission, content=content))
    if attempt is None:
        attempt = Attempt(submission_id=submission, content=content)
        session.add(attempt)
    attempt.submitted, attempt.is_late = received.submitted, received.is_late
    session.flush()
    return attempt


def _result(session: Session, attempt: Attempt, record: Record) -> Result:
    """The result with the record's key, or a new one without content."""
    judgement = record.judgement
    if session.get(Version, judgement.grader_version) is None:
        session.add(Version(id=judgement.grader_version, first_used=now()))
        session.flush()
    key = {
        "attempt_id": attempt.id,
        "version_id": judgement.grader_version,
        "seed_id": judgement.seed_id,
        "weighting": judgement.weighting,
    }
    return session.scalar(select(Result).filter_by(**key)) or Result(**key)


def _add_run(session: Session, attempt: Attempt, record: Record) -> int:
    run = record.run
    row = Run(
        attempt_id=attempt.id,
        version_id=record.judgement.grader_version,
        started=run.started,
        finished=run.finished,
        host=run.host,
        seconds=run.seconds,
        error=run.error,
    )
    session.add(row)
    session.flush()
    return row.id


def _fill(session: Session, result: Result, record: Record) -> None:
    """Writes the record into a result, with what is repeated for queries."""
    judgement = record.judgement
    result.is_finished, result.needs_review = record.is_finished, judgement.mark is None
    result.score, result.max_score = judgement.mark, judgement.max_score
    result.record = record.model_dump_json()
    session.add(result)
    session.flush()
    session.execute(delete(TestResult).where(TestResult.result_id == result.id))
    tests = [(part.number, test) for part in judgement.parts for test in part.tests]
    rows = [
        {
            "result_id": result.id,
            "position": position,
            "part": part,
            "test": stored_name(test.nodeid),
            "is_core": test.core,
            "state": test.state.value,
        }
        for position, (part, test) in enumerate(tests)
    ]
    if rows:
        session.execute(insert(TestResult), rows)
