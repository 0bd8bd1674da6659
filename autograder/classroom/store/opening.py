"""Opens a class's database, and brings an older one up to date.

SQLite keeps a write-ahead log, checks foreign keys and waits for other writers. Whatever a transaction has committed
is on the disk.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from ...grading.record import NotWrittenError
from .tables import HandedIn, Setting

FILE = "class.db"
"""The database's file in the output folder, where no other is named."""
NEWEST = "3"
"""The revision in `migrations/` that the tables are of."""
REVISIONS = [str(number) for number in range(1, int(NEWEST) + 1)]
OURS = {Setting.__tablename__, HandedIn.__tablename__}
"""Tables that every revision has."""
BUSY_SECONDS = 30.0
SETTINGS = ("foreign_keys = ON", "synchronous = FULL")
"""Of each connection to SQLite."""
SQLITE, POSTGRESQL = "sqlite", "postgresql"
DISK_FULL = "53100"
"""What PostgreSQL says then."""
MIGRATING = 7_021_309
"""The number of the lock in PostgreSQL that one process holds while it migrates; any would do."""


class StoreError(ValueError):
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


def open_engine(url: URL, owner: str) -> Engine:
    """A database with the newest tables, made or brought up to date where needed.

    Args:
        url: of the database.
        owner: the assignment's name; a database has the marks of one assignment.

    Raises:
        NotWrittenError: where there is no room for it.
        StoreError: where it cannot be opened, is another program's or another assignment's, or newer than this kit.
    """
    try:
        engine = _engine(url)
        with engine.begin() as connection:
            _bring_up_to_date(connection, url)
            _check_owner(connection, url, owner)
        if url.get_backend_name() == SQLITE:
            with closing(engine.raw_connection()) as file:  # not in a transaction
                file.cursor().execute("PRAGMA journal_mode = WAL")  # stays with the file, so it has to be ours
    except (SQLAlchemyError, sqlite3.Error, ImportError, OSError) as error:
        if has_no_room(error):
            raise NotWrittenError(shown(url), RuntimeError(cause_of(error))) from None
        raise StoreError(f"store {shown(url)}: {cause_of(error)}") from None
    return engine


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


def _bring_up_to_date(connection: Connection, url: URL) -> None:
    if connection.dialect.name == POSTGRESQL:
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": MIGRATING})
    tables = set(inspect(connection).get_table_names())
    if not tables:
        migrate(connection)
        return
    revision = ""
    if "alembic_version" in tables:
        revision = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar())
    if not tables >= OURS or not revision.isdecimal():
        raise StoreError(f"store {shown(url)}: has tables of another program; name an empty database")
    if revision not in REVISIONS:
        what = f"of revision {revision}; this kit knows up to {NEWEST}"
        raise StoreError(f"store {shown(url)}: {what}: use the kit that has written it, or a newer one")
    if revision != NEWEST:
        migrate(connection)


def migrate(connection: Connection, revision: str = NEWEST) -> None:
    """Brings the tables to a revision, within the connection's transaction."""
    from alembic import command  # here: it is rarely needed, and takes a while to load
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _check_owner(connection: Connection, url: URL, owner: str) -> None:
    found = connection.execute(select(Setting.value).where(Setting.name == "assignment")).scalar()
    if found is None:
        connection.execute(insert(Setting).values(name="assignment", value=owner))
    elif found != owner:
        what = f"has the marks of {found!r}, not of {owner!r}"
        raise StoreError(f"store {shown(url)}: {what}; name its --assignment, or another database")
