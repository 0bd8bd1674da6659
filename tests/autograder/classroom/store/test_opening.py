"""Which databases are opened, and that older ones get what they lack."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import text

from autograder.classroom.store import ByHand, Database, Results, StoreError, url_of
from autograder.classroom.store.database import shown

from .conftest import SEEDS, graded, received


def test_an_older_database_gets_the_tables_that_it_lacks(tmp_path):
    """With all that is in it."""
    with Database(url_of(None, tmp_path), "transformer") as database:
        Results(database, SEEDS).enrol([received()])
        database.do(lambda session: session.execute(text("DROP TABLE overrides")))
    for points in (4, None):
        with Database(url_of(None, tmp_path), "transformer") as database:
            if points:
                ByHand(database).give_points("anna", "1.2", points, "because", "me")
            assert ByHand(database).decisions()["anna"].points["1.2"].value == 4, "opened again, nothing changes"


def test_a_newer_database_or_one_of_another_assignment_is_refused(tmp_path):
    with Database(url_of(None, tmp_path), "transformer") as database:
        results = Results(database, SEEDS)
        results.enrol([received()])
        results.add(received(), graded())
    with pytest.raises(StoreError, match="has the marks of 'transformer', not of 'regression'"):
        Database(url_of(None, tmp_path), "regression")
    with sqlite3.connect(tmp_path / "class.db") as file:
        file.execute("UPDATE settings SET value = '99' WHERE name = 'schema'")
    with pytest.raises(StoreError, match="of another version, 99; this kit knows 2"):
        Database(url_of(None, tmp_path), "transformer")


@pytest.mark.parametrize(
    "content",
    ["CREATE TABLE songs (name TEXT);", "CREATE TABLE student (id TEXT); CREATE TABLE alembic_version (v TEXT);"],
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
