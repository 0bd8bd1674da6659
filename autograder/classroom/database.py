"""A class's database: its tables, opened or made where they are missing, and worked on in transactions.

    submissions ── results          one for each content of a submission and version of the grader
         └────── kept ──┘           the result that counts
    students ── decisions           what people decide

Each transaction is done whole or not at all, and whatever it has committed is on the disk. The database is SQLite's, by
default a file in the output folder, or PostgreSQL's, for several people at once. SQLite keeps a write-ahead log, and
waits for other writers.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Self, TypeVar

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    ForeignKey,
    UniqueConstraint,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, IntegrityError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from foundation.command_line import UserError

from ..grading.record import NotWrittenError

Answer = TypeVar("Answer")

FILE = "class.db"
"""The database's file in the output folder, where no other is named."""
BUSY_SECONDS = 30.0
SETTINGS = ("foreign_keys = ON", "synchronous = FULL")
"""Of each connection to SQLite."""
SQLITE, POSTGRESQL = "sqlite", "postgresql"
DISK_FULL = "53100"
"""What PostgreSQL says then."""


class Table(DeclarativeBase):
    """What all tables have in common."""


class Setting(Table):
    """A fact about the whole database: whose marks are in it."""

    __tablename__ = "settings"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class Result(Table):
    """What one version of the grader found out about one content; there is one for each key, never two."""

    __tablename__ = "results"
    __table_args__ = (UniqueConstraint("submission", "content", "version", "seed_id", "weighting"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    submission: Mapped[str]  # the entry's key
    content: Mapped[str]  # hash of the names and hashes of its files; "" where the grader could not read them
    version: Mapped[str]  # of everything that decides outcomes
    seed_id: Mapped[str]  # names the seed of the tests' inputs
    weighting: Mapped[str]  # version of points, thresholds, credit and titles
    record: Mapped[str]  # the sealed record, as JSON


class Kept(Table):
    """The result that counts for a submission; another one takes its place only where nothing changes, or on demand."""

    __tablename__ = "kept"

    submission: Mapped[str] = mapped_column(primary_key=True)
    result_id: Mapped[int] = mapped_column(ForeignKey("results.id"))


class Decided(Table):
    """A decision by hand; later ones take the place of earlier ones, and none is deleted."""

    __tablename__ = "decisions"

    id: Mapped[int] = mapped_column(primary_key=True)
    student: Mapped[str]  # the id by which the course knows the student
    kind: Mapped[str]  # "points", "comment", "late" or "waiver"
    task: Mapped[str]  # its number; "" = the whole submission
    value: Mapped[float | None]  # points or days; null = taken back, or all days of a waiver
    text: Mapped[str]  # why, or the comment
    by: Mapped[str]  # who entered it
    at: Mapped[str]  # when, in ISO format


class StoreError(UserError):
    """A store that cannot be used; the message says which and why, without a password."""


def url_of(text_: str | None, output: Path) -> URL:
    """The database's URL: as given, or of the file in the output folder.

    Raises:
        StoreError: where it is no URL of a kind that the store knows.
    """
    if text_ is None:
        return URL.create(SQLITE, database=str(output / FILE))
    expected = "expected postgresql://USER@HOST/DATABASE or sqlite:///FILE"
    try:
        url = parse_url(text_)
    except ValueError as error:
        raise StoreError(f"--store: {error}; {expected}") from None
    if url.get_backend_name() not in (SQLITE, POSTGRESQL) or not url.database or url.database == ":memory:":
        raise StoreError(f"--store {shown(url)}: {expected}")
    return url


def parse_url(text_: str) -> URL:
    """Any database's URL; psycopg is the driver for PostgreSQL where it names none.

    Raises:
        ValueError: where it is none; the message has nothing of it, since a password may be anywhere.
    """
    try:
        url = make_url(re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", text_))
    except (ArgumentError, ValueError):
        raise ValueError("not a database's URL") from None
    if url.get_backend_name() != SQLITE and "@" in f"{url.host}{url.database}":
        raise ValueError("not a database's URL: write an @ in a password as %40")
    return url


def shown(url: URL) -> str:
    """For messages: the file, or the URL without its password, which may be among the options, too."""
    return str(url.database) if url.get_backend_name() == SQLITE else url.set(query={}).render_as_string()


class Database:
    """An open database with all tables; used in a with-block. `place` names it in messages."""

    def __init__(self, url: URL, owner: str) -> None:
        """Opens it, and makes tables that are missing; it has the marks of one assignment, whose name is `owner`.

        Raises:
            NotWrittenError: where there is no room for it.
            StoreError: where it cannot be opened, is another program's or another assignment's, or of another version.
        """
        self.place = shown(url)
        self._file = None if url.get_backend_name() == POSTGRESQL else Path(str(url.database))
        try:
            self._engine = _engine(url)
            with self._engine.begin() as connection:
                _make_tables(connection, self.place, owner)
            if self._file:
                with closing(self._engine.raw_connection()) as file:  # not in a transaction
                    file.cursor().execute("PRAGMA journal_mode = WAL")  # stays with the file, so it has to be ours
        except (SQLAlchemyError, sqlite3.Error, ImportError, OSError) as error:
            if has_no_room(error):
                raise NotWrittenError(self.place, RuntimeError(cause_of(error))) from None
            raise StoreError(f"store {self.place}: {cause_of(error)}") from None

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def do(self, work: Callable[[Session], Answer], may_repeat: bool = True) -> Answer:
        """Does some work in one transaction; once more where another process has just written the same row.

        Raises:
            NotWrittenError: where it cannot be done; nothing of it is in the database then.
        """
        if self._file and not self._file.exists():  # SQLite would go on in a file without a name
            raise NotWrittenError(self._file, FileNotFoundError("it was there at the beginning, and is gone"))
        try:
            with Session(self._engine) as session, session.begin():
                return work(session)
        except SQLAlchemyError as error:
            if may_repeat and isinstance(error, IntegrityError):
                return self.do(work, may_repeat=False)
            raise NotWrittenError(self.place, RuntimeError(cause_of(error))) from None


def cause_of(error: Exception) -> str:
    """What a database's driver says, in one line."""
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


def has_no_room(error: Exception) -> bool:
    """Whether a database cannot be written since the disk is full or fails."""
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) or getattr(cause, "sqlstate", "") == DISK_FULL


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == POSTGRESQL:
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS, "isolation_level": None})

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        for setting in SETTINGS:
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # At once for writing: a transaction that began by reading could not wait for another writer.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _make_tables(connection: Connection, place: str, owner: str) -> None:
    tables = set(inspect(connection).get_table_names())
    if tables and tables != {*Table.metadata.tables}:
        what = "has tables of another program, or of another version of the kit"
        raise StoreError(f"store {place}: {what}; name an empty database, or a new folder")
    Table.metadata.create_all(connection)
    known = connection.scalar(select(Setting.value).where(Setting.name == "assignment"))
    if known is None:
        connection.execute(insert(Setting).values(name="assignment", value=owner))
    elif known != owner:
        what = f"has the marks of {known!r}, not of {owner!r}"
        raise StoreError(f"store {place}: {what}; name its --assignment, or another database")
