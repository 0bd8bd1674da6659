"""The results of a class in its database: one transaction for each, so that a killed process loses and doubles none.

Records are sealed on the way in, and what the term's secret has not sealed does not come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from ..grading.record import Record
from ..grading.seeds import Seeds
from .database import Database, Kept, Result
from .entries import Entry


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

    def add(self, entry: Entry, record: Record) -> Stored:
        """Seals a record and stores it, in one transaction.

        An unfinished result never takes the place of a finished one of the same key. The first result of some files
        counts at once; others wait for `keep`.

        Args:
            entry: what was graded.
            record: what came out.

        Returns:
            The result that is there now.

        Raises:
            NotWrittenError: where that fails; nothing has changed then.
        """
        record = self._seeds.seal(record)
        text, judgement = record.model_dump_json(), record.judgement
        key = {"submission": entry.key, "content": judgement.content_hash, "version": judgement.grader_version}
        key |= {"seed_id": judgement.seed_id, "weighting": judgement.weighting}

        def work(session: Session) -> Stored:
            result = session.scalar(select(Result).filter_by(**key)) or Result(**key)
            old = self._stored(result)
            if old and (old.record == record or (old.record.is_finished and not record.is_finished)):
                return old
            result.record = text
            session.add(result)
            session.flush()
            kept = session.get(Kept, entry.key)
            if kept is None or session.get_one(Result, kept.result_id).content != judgement.content_hash:
                session.merge(Kept(submission=entry.key, result_id=result.id))
            return Stored(result.id, record)

        return self.database.do(work)

    def find(self, entry: Entry, content: str, version: str, seed_id: str) -> list[Stored]:
        """The results of an entry's content by a version of the grader, with any weighting."""
        key = {"submission": entry.key, "content": content, "version": version, "seed_id": seed_id}
        query = select(Result).filter_by(**key).order_by(Result.id)
        return self.database.do(lambda session: [*filter(None, map(self._stored, session.scalars(query)))])

    def kept(self, entry: Entry) -> Stored | None:
        """The result that counts for an entry; None where it has none."""
        query = select(Result).join(Kept).where(Kept.submission == entry.key)

        def work(session: Session) -> Stored | None:
            result = session.scalar(query)
            return None if result is None else self._stored(result)

        return self.database.do(work)

    def keep(self, entry: Entry, result: int) -> None:
        """Lets a result count for an entry from now on."""
        self.database.do(lambda session: session.merge(Kept(submission=entry.key, result_id=result)))

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
    """The keys of entries, and the results that count for them as they are stored."""
    wanted = set(keys)
    query = select(Kept.submission, Result.record).join(Result)
    return ((key, text) for key, text in session.execute(query) if key in wanted)
