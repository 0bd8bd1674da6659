"""Results: none is lost, none doubled, and what is not sealed does not come out."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from autograder.classroom.marks import weighed
from autograder.classroom.store import ByHand, Database, Owner, Received, Results, stored_name, url_of
from autograder.classroom.store.tables import HandedIn, Kept, Result, Run, Student, TestResult
from autograder.grading.record import NotWrittenError
from autograder.grading.seeds import Seeds
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

from .conftest import SEEDS, VERSION, graded, received

ANNA = received("anna")


def count(database, table) -> int:
    return database.do(lambda session: session.scalar(select(func.count()).select_from(table)))


def find(results, record, who=ANNA):
    judgement = record.judgement
    return results.find(who, judgement.content_hash, judgement.grader_version, judgement.seed_id)


def test_what_is_stored_comes_out_sealed(results):
    record = graded("1.2")
    assert find(results, record) == []
    added = results.add(ANNA, record)
    assert added.record.changed(seal="") == record and SEEDS.has_sealed(added.record)
    assert find(results, record) == [added] and results.kept(ANNA) == added
    assert results.kept(received("bob")) is None


def test_the_same_result_twice_is_one(results, database):
    first, second = (results.add(ANNA, graded("1.2")) for _ in range(2))
    assert first.id == second.id
    n_tests = 2 * len(read_assignment().tasks)
    assert [count(database, table) for table in (Result, Run, TestResult, Kept)] == [1, 2, n_tests, 1]


def test_each_content_version_and_weighting_has_a_result_of_its_own(results, database):
    records = [graded("1.2"), graded("1.2", content="b"), graded("1.2", version="f" * 16)]
    for record in records:
        results.add(ANNA, record)
    heavier = read_assignment()
    heavier = replace(heavier, tasks=tuple(replace(task, points=2 * task.points) for task in heavier.tasks))
    old = find(results, records[0])[0]
    new = results.add(ANNA, old.record.changed(judgement=weighed(old.record.judgement, heavier)), run=old.run)
    assert count(database, Result) == 4 and count(database, Run) == 3, "weighing is no run"
    assert find(results, records[0]) == [old, new] and new.record.judgement.max_score == 200


def test_a_new_attempt_counts_at_once_and_a_regrade_only_when_it_is_kept(results):
    results.add(ANNA, graded("1.2"))
    regraded = results.add(ANNA, graded("1.3", version="f" * 16))
    assert results.kept(ANNA).record.judgement.grader_version == VERSION
    results.keep(ANNA, regraded.id)
    assert results.kept(ANNA) == regraded
    handed_in_again = results.add(ANNA, graded(content="b"))
    assert results.kept(ANNA) == handed_in_again


def test_an_unfinished_result_never_takes_the_place_of_a_finished_one(results, database):
    failed = results.add(ANNA, graded(gives_up=True))
    assert not failed.record.is_finished and results.kept(ANNA) == failed
    finished = results.add(ANNA, graded("1.2"))
    assert (finished.id, results.kept(ANNA)) == (failed.id, finished)
    assert results.add(ANNA, graded(gives_up=True)) == finished
    assert count(database, Result) == 1 and count(database, Run) == 3
    errors = database.do(lambda session: session.scalars(select(Run.error).order_by(Run.id)).all())
    assert errors == ["a bug of ours", "", "a bug of ours"]


def test_what_is_not_sealed_does_not_come_out(results, database):
    record = graded("1.2")
    results.add(ANNA, record)
    forged = record.changed(judgement=record.judgement.changed(score=100.0))
    for text in ("{", forged.model_dump_json(), Seeds(b"guessed").seal(forged).model_dump_json()):
        database.do(lambda session, text=text: session.execute(update(Result).values(record=text)))
        assert find(results, record) == [] and results.kept(ANNA) is None and results.forged([ANNA]) == {"anna"}
    results.add(ANNA, graded(gives_up=True))
    assert not results.kept(ANNA).record.is_finished, "a forged one is no finished one"
    assert results.forged([ANNA]) == set()


def test_results_of_single_tests_can_be_queried(results, database):
    results.add(ANNA, graded("1.2"))
    query = select(TestResult.part, TestResult.test).where(TestResult.state == "failed")
    assert database.do(lambda session: session.execute(query).all()) == [("1.2", "test_attention.py::1")]


def test_students_and_their_submissions_follow_the_roster(results, database):
    def owners() -> dict[str, str]:
        query = select(Student.key, Student.name).join(HandedIn).order_by(Student.key)
        return dict(database.do(lambda session: list(map(tuple, session.execute(query)))))

    assert owners() == {"anna": "Anna", "bob": "Bob"}
    pair = (Owner("4711", "Anna A."), Owner("4712", "Carl C.", group="2"))
    for _ in range(2):
        results.enrol([replace(ANNA, owners=pair), received("bob")])
        assert owners() == {"4711": "Anna A.", "4712": "Carl C.", "bob": "Bob"}
    results.enrol([replace(ANNA, owners=())])
    assert owners() == {"bob": "Bob"}


def test_times_keep_their_instant(results):
    handed_in = datetime.fromisoformat("2026-12-18T23:59:00+01:00")
    results.add(replace(ANNA, submitted=handed_in, is_late=True), graded())
    stored = results.kept(ANNA)
    assert (stored.submitted, stored.is_late) == (handed_in, True)
    later = replace(ANNA, submitted=datetime(2026, 12, 20, tzinfo=UTC))
    find(results, graded(), later)
    assert results.kept(ANNA).submitted == later.submitted, "what the platform says now"


@pytest.mark.parametrize("name", ["é", "\udcff", "a\nb", "\\udcff", "x" * 300])
def test_odd_names_are_kept_apart(results, name):
    odd = Received(name, name, (Owner(name, name),))
    results.enrol([odd, received("\udcfe")])
    results.add(odd, graded("1.2"))
    assert results.kept(odd) and results.kept(received("\udcfe")) is None
    assert stored_name("\\udcff") != stored_name("\udcff")


@pytest.mark.slow
def test_a_killed_writer_loses_and_doubles_nothing(tmp_path):
    with Database(url_of(None, tmp_path), "transformer") as database:
        results = Results(database, SEEDS)
        results.enrol([ANNA])
        for n_seen in (1, 7, 3):
            with subprocess.Popen(writer(tmp_path), cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
                seen = [process.stdout.readline().strip() for _ in range(n_seen)]
                os.kill(process.pid, signal.SIGKILL)
                seen += process.stdout.read().split()
            for content in seen:
                assert results.find(ANNA, content, VERSION, "0" * 12), "what was said to be stored is there"
            numbers = database.do(numbers_of_tests)
            assert len(numbers) == count(database, Result)
            assert set(numbers) == {2 * len(read_assignment().tasks)}, "each whole"


def numbers_of_tests(session: Session) -> list[int]:
    return list(session.scalars(select(func.count()).select_from(TestResult).group_by(TestResult.result_id)))


def writer(folder) -> list[str]:
    """A process that adds records with different contents."""
    code = f"""
from pathlib import Path
from autograder.classroom.store import ByHand, Database, Owner, Received, Results, url_of
from autograder.grading.record import Record
from autograder.grading.seeds import Seeds
record = Record.model_validate_json(Path({str(folder / "record.json")!r}).read_text())
anna = Received("anna", "anna", (Owner("anna", "Anna", "anna@example.org"),))
with Database(url_of(None, Path({str(folder)!r})), "transformer") as database:
    results = Results(database, Seeds(b"a secret"))
    results.enrol([anna])
    for number in range(1000):
        content = f"{{number:064x}}"
        results.add(anna, record.changed(judgement=record.judgement.changed(content_hash=content)))
        print(content, flush=True)
"""
    (folder / "record.json").write_text(graded("1.2").model_dump_json())
    return [sys.executable, "-c", code]


def test_a_file_that_is_gone_is_not_made_anew(results, tmp_path):
    (tmp_path / "class.db").rename(tmp_path / "elsewhere.db")
    with pytest.raises(NotWrittenError, match="is gone"):
        results.add(ANNA, graded())
    assert not (tmp_path / "class.db").exists()


@pytest.mark.slow
def test_postgresql_keeps_the_same(postgresql, tmp_path):
    url, odd = url_of(postgresql.create("class"), tmp_path), received("\udcff\0\n")
    for _ in range(2):  # opened again, it has all that was in it
        with Database(url, "transformer") as database:
            results, by_hand = Results(database, SEEDS), ByHand(database)
            results.enrol([replace(ANNA, owners=(*ANNA.owners, Owner("4711", "Ünal"))), odd])
            for record in (graded("1.2"), graded("1.2"), graded(gives_up=True)):
                results.add(ANNA, record)
            results.add(odd, graded())
            by_hand.give_points(by_hand.find_student("unal"), "1.3", 4.0, "it is right", "tina")
            assert results.kept(ANNA).record.judgement == graded("1.2").judgement and results.kept(odd)
            assert by_hand.decisions()["4711"].points["1.3"].value == 4
    with Database(url, "transformer") as database:
        assert count(database, Result) == 2 and set(database.do(numbers_of_tests)) == {2 * len(read_assignment().tasks)}
        postgresql.halt()
        try:
            with pytest.raises(NotWrittenError, match=r"postgresql.*cannot be written: .*refused"):
                ByHand(database).decisions()
        finally:
            postgresql.start()
