"""Results in a class's database: one transaction for each, so that a killed process loses and doubles none.

Records are sealed on the way in, and what the term's secret has not sealed does not come out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from ...grading.record import Record, now
from ...grading.seeds import Seeds
from .database import Database
from .enrolment import Received, enrol, stored_name
from .tables import Attempt, Kept, Result, Run, Submission, TestResult, Version

BATCH = 100
"""Records in memory at a time."""


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

    def records(self, entries: Iterable[str]) -> dict[str, Record]:
        """The records that count, by entry; what has none is left out."""
        names = {stored_name(entry): entry for entry in entries}

        def work(session: Session) -> dict[str, Record]:
            query = select(Submission.entry, Result.record).join(Kept, Kept.submission_id == Submission.id)
            rows = session.execute(query.join(Result, Result.id == Kept.result_id).execution_options(yield_per=BATCH))
            found = {names[entry]: record for entry, text in rows if entry in names and (record := self._sealed(text))}
            return {entry: found[entry] for entry in names.values() if entry in found}

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
        names = {stored_name(one.entry): one.entry for one in received}

        def work(session: Session) -> set[str]:
            query = select(Submission.entry, Result.record).join(Kept, Kept.submission_id == Submission.id)
            rows = session.execute(query.join(Result, Result.id == Kept.result_id).execution_options(yield_per=BATCH))
            return {names[entry] for entry, text in rows if entry in names and self._sealed(text) is None}

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
    if result.id is not None:
        session.execute(delete(TestResult).where(TestResult.result_id == result.id))
    session.add(result)
    session.flush()
    tests = [(part.number, test) for part in judgement.parts for test in part.tests]
    rows = [
        {
            "result_id": result.id,
            "position": position,
            "part": part,
            "test": test.nodeid,
            "is_core": test.core,
            "state": test.state.value,
        }
        for position, (part, test) in enumerate(tests)
    ]
    if rows:
        session.connection().execute(insert(TestResult), rows)  # past the session, which would follow each row
