"""Results in a class's database: one transaction for each, so that a killed process loses and doubles none.

Records are sealed on the way in, and what the term's secret has not sealed does not come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from ...grading.record import Record
from ...grading.seeds import Seeds
from .adding import add
from .database import Database
from .enrolment import Received, enrol, stored_name
from .tables import Attempt, Kept, Result, Submission

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
        submission, text = self._ids[received.entry], record.model_dump_json()

        def is_sealed(present: str) -> bool:
            return self._sealed(present) is not None

        added = self.database.do_plainly(
            lambda connection: add(connection, submission, received, record, text, run, is_sealed)
        )
        there = record if added.text is text else Record.model_validate_json(added.text)
        return Stored(added.result, added.attempt, added.run, there, received.submitted, received.is_late)

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
