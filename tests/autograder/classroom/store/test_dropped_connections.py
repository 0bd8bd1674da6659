"""A server that restarts while a class is graded: no finished result is lost, none is there twice."""

import pytest
from sqlalchemy import func, select, text

from autograder.classroom.store import Database, Results, database, url_of
from autograder.classroom.store.tables import Kept, Result, Run
from autograder.grading.record import NotWrittenError

from ..conftest import ASSIGNMENT, SEEDS
from .conftest import graded, received

pytestmark = pytest.mark.slow

ANNA, BOB = received("anna"), received("bob")


@pytest.fixture
def opened(postgresql, tmp_path):
    url = postgresql.create(f"dropped_{abs(hash(tmp_path))}")
    with Database(url_of(url, tmp_path), ASSIGNMENT.name) as database:
        yield database


def counts(opened) -> list[int]:
    tables = (Result, Run, Kept)
    return [opened.do(lambda session, t=table: session.scalar(select(func.count()).select_from(t))) for table in tables]


def test_a_restart_in_the_middle_of_a_transaction_repeats_it(postgresql, opened):
    results = Results(opened, SEEDS)
    results.enrol([ANNA, BOB])
    record = graded()
    calls = []

    def is_finished(session):
        """As `add` would, with an accident after the first statement."""
        session.execute(text("UPDATE submissions SET name = name || '!'"))
        calls.append(1)
        if len(calls) == 1:
            postgresql.halt()
            postgresql.start()
        return session.execute(text("SELECT name FROM submissions WHERE entry = 'anna'")).scalar_one()

    assert opened.do(is_finished) == "anna!" and len(calls) == 2
    results.add(ANNA, record)
    assert counts(opened) == [1, 1, 1]


def test_a_server_that_stays_away_is_one_line_and_loses_nothing(postgresql, opened, monkeypatch):
    monkeypatch.setattr(database, "WAITS", (0.0, 0.1))
    results = Results(opened, SEEDS)
    results.enrol([ANNA, BOB])
    results.add(ANNA, graded())
    postgresql.halt()
    try:
        with pytest.raises(NotWrittenError, match=r"postgresql.*cannot be written: .*refused") as raised:
            results.add(BOB, graded())
        assert "\n" not in str(raised.value)
    finally:
        postgresql.start()
    assert counts(opened) == [1, 1, 1] and results.kept(ANNA).record.is_finished
    results.add(BOB, graded())
    assert counts(opened) == [2, 2, 2]
