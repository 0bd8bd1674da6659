"""Which databases are opened, and that older ones are brought up to date."""

import sqlite3
from contextlib import closing

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from autograder.classroom.store import ByHand, Database, Results, StoreError, opening, url_of
from autograder.classroom.store.opening import NEWEST, migrate, shown
from autograder.classroom.store.tables import Table

from .conftest import SEEDS, graded, received


def test_the_tables_are_those_of_the_newest_migration(database):
    script = ScriptDirectory(opening.__file__.replace("opening.py", "migrations"))
    assert script.get_current_head() == NEWEST
    found = database.do(lambda session: compare_metadata(MigrationContext.configure(session.connection()), metadata()))
    assert found == []


def metadata():
    return Table.metadata


def test_an_older_database_is_brought_up_to_date(url, tmp_path):
    """With all that is in it."""
    engine = create_engine(url_of(url, tmp_path))
    with engine.begin() as connection:
        migrate(connection, "1")
        assert "overrides" not in inspect(connection).get_table_names()
        connection.execute(text("INSERT INTO students (key, name, email, group_name) VALUES ('anna', 'Anna', '', '')"))
    engine.dispose()
    with Database(url_of(url, tmp_path), "transformer") as database:
        ByHand(database).give_points("anna", "1.2", 4.0, "because", "me")
        assert ByHand(database).decisions()["anna"].points["1.2"].value == 4
    with Database(url_of(url, tmp_path), "transformer") as database:
        assert list(ByHand(database).decisions()) == ["anna"], "opened again, nothing changes"


def test_a_newer_database_or_one_of_another_assignment_is_refused(tmp_path):
    with Database(url_of(None, tmp_path), "transformer") as database:
        results = Results(database, SEEDS)
        results.enrol([received()])
        results.add(received(), graded())
    with pytest.raises(StoreError, match="has the marks of 'transformer', not of 'regression'"):
        Database(url_of(None, tmp_path), "regression")
    with sqlite3.connect(tmp_path / "class.db") as file:
        file.execute("UPDATE alembic_version SET version_num = '99'")
    with pytest.raises(StoreError, match="of revision 99; this kit knows up to"):
        Database(url_of(None, tmp_path), "transformer")


GRADEBOOK = "CREATE TABLE student (id TEXT); CREATE TABLE alembic_version (version_num TEXT);"


@pytest.mark.parametrize(
    "content",
    [
        "CREATE TABLE songs (name TEXT);",
        f"{GRADEBOOK} INSERT INTO alembic_version VALUES ('724cde206c17');",
        f"{GRADEBOOK} INSERT INTO alembic_version VALUES ('1');",
        GRADEBOOK,
    ],
)
def test_a_database_of_another_program_is_refused_and_stays_as_it_is(tmp_path, content):
    with closing(sqlite3.connect(tmp_path / "class.db")) as file:
        file.executescript(content)
    before = (tmp_path / "class.db").read_bytes()
    with pytest.raises(StoreError, match="tables of another program"):
        Database(url_of(None, tmp_path), "transformer")
    assert (tmp_path / "class.db").read_bytes() == before


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "class.db").write_text("no database " * 100)
    with pytest.raises(StoreError, match=r"class\.db: file is not a database"):
        Database(url_of(None, tmp_path), "transformer")


def test_sqlite_keeps_a_write_ahead_log(tmp_path):
    with Database(url_of(None, tmp_path), "transformer") as database:
        mode = database.do_plainly(lambda connection: connection.exec_driver_sql("PRAGMA journal_mode").scalar())
    assert mode == "wal"


@pytest.mark.parametrize(
    "given, backend",
    [
        ("postgresql://me@host/marks", "postgresql+psycopg"),
        ("postgres://me@host/marks", "postgresql+psycopg"),
        ("postgresql+psycopg://me@host/marks", "postgresql+psycopg"),
        ("sqlite:////srv/marks.db", "sqlite"),
    ],
)
def test_urls(tmp_path, given, backend):
    assert url_of(given, tmp_path).drivername == backend


@pytest.mark.parametrize(
    "given",
    [
        "marks.db",
        "sqlite://",
        "mysql://me:secret@host/marks",
        "mysql://host/marks?password=secret",
        "postgresql:/me:secret@host/marks",
        "postgresql://me:secret@host:port/marks",
        "postgresql://me:secret/marks",
        "postgresql://me:top@secret@host/marks",
        "postgresql://me/secret@host/marks",
        "postgresql://host?password=secret",
        "postgresql://host",
        "://",
    ],
)
def test_what_is_no_url_of_ours_is_said(tmp_path, given):
    expected = r"^--store[: ].*expected postgresql://USER@HOST/DATABASE or sqlite:///FILE$"
    with pytest.raises(StoreError, match=expected) as it:
        url_of(given, tmp_path)
    assert "secret" not in str(it.value)


def test_a_server_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(StoreError, match=r"^store postgresql\+psycopg://me:\*\*\*@127.0.0.1:1/marks: .*refused") as it:
        Database(url_of("postgresql://me:secret@127.0.0.1:1/marks?sslpassword=secret", tmp_path), "transformer")
    assert "\n" not in str(it.value) and "secret" not in str(it.value)
    assert shown(url_of(None, tmp_path)) == str(tmp_path / "class.db")
