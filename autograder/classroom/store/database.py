"""A class's database and its transactions: each is done whole or not at all, and tried again where that can help."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeVar

from sqlalchemy import URL, Connection
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session

from ...grading.record import NotWrittenError
from .opening import POSTGRESQL, cause_of, open_engine, shown

Answer = TypeVar("Answer")

WAITS = (0.0, 0.2, 1.0, 5.0)
"""Seconds before each try of a transaction, if a connection drops; a server may take that long to restart."""


class Database:
    """An open database; used in a with-block.

    Attributes:
        place: for messages.
    """

    def __init__(self, url: URL, owner: str) -> None:
        """Opens it; see `open_engine`."""
        self.place = shown(url)
        self._file = None if url.get_backend_name() == POSTGRESQL else Path(str(url.database))
        self._engine = open_engine(url, owner)

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def do(self, work: Callable[[Session], Answer]) -> Answer:
        """Does some work in one transaction; see `_do`."""

        def once() -> Answer:
            with Session(self._engine) as session, session.begin():
                return work(session)

        return self._do(once)

    def do_plainly(self, work: Callable[[Connection], Answer]) -> Answer:
        """Does some work in one transaction, without mapped objects; see `_do`."""

        def once() -> Answer:
            with self._engine.begin() as connection:
                return work(connection)

        return self._do(once)

    def _do(self, once: Callable[[], Answer]) -> Answer:
        """Does a transaction.

        Where another process has just written the same row, or a server has dropped the connection, it is done again,
        so it must come to the same whether it is done once or twice.

        Raises:
            NotWrittenError: where it cannot be done; nothing of it is in the database then.
        """
        if self._file and not self._file.exists():  # SQLite would go on in a file without a name
            raise NotWrittenError(self._file, FileNotFoundError("it was there at the beginning, and is gone"))
        for wait in WAITS:
            if wait:
                time.sleep(wait)
            try:
                return once()
            except SQLAlchemyError as error:
                failure = error
                is_dropped = self._file is None and isinstance(error, OperationalError)
                if not is_dropped and not isinstance(error, IntegrityError):
                    break
        raise NotWrittenError(self.place, RuntimeError(cause_of(failure))) from None
