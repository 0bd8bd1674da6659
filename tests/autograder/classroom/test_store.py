"""The database: no result is lost or doubled, what is not sealed does not come out, and decisions by hand stay."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from autograder.classroom.database import Database, Decided, Kept, Result, StoreError, url_of
from autograder.classroom.decisions import WHOLE, decide, decisions_in, find_student
from autograder.classroom.entries import Member, Roll
from autograder.classroom.results import Results
from autograder.grading.record import NotWrittenError, now
from autograder.grading.seeds import Seeds
from foundation.places import ROOT

from .conftest import ASSIGNMENT, SEEDS, VERSION, graded, handed_in

ANNA, BOB = handed_in("anna"), handed_in("bob")


def count(database, table) -> int:
    return database.do(lambda session: session.scalar(select(func.count()).select_from(table)))


def find(results, record, who=ANNA):
    judgement = record.judgement
    return results.find(who, judgement.content_hash, judgement.grader_version, judgement.seed_id)


def test_what_is_stored_comes_out_sealed_and_once(results, database):
    record = graded("1.2")
    assert find(results, record) == []
    added, again = (results.add(ANNA, record) for _ in range(2))
    assert added == again and added.record.changed(seal="") == record and SEEDS.has_sealed(added.record)
    assert find(results, record) == [added] and results.kept(ANNA) == added and results.kept(BOB) is None
    assert [count(database, table) for table in (Result, Kept)] == [1, 1]


def test_other_files_count_at_once_and_a_regrade_only_when_it_is_kept(results):
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
    assert results.add(ANNA, graded(gives_up=True)) == finished and count(database, Result) == 1


def test_what_is_not_sealed_does_not_come_out(results, database):
    record = graded("1.2")
    results.add(ANNA, record)
    forged = record.changed(judgement=record.judgement.changed(score=100.0))
    for content in ("{", forged.model_dump_json(), Seeds(b"guessed").seal(forged).model_dump_json()):
        database.do(lambda session, content=content: session.execute(update(Result).values(record=content)))
        assert find(results, record) == [] and results.kept(ANNA) is None and results.forged([ANNA]) == {"anna"}
    results.add(ANNA, graded(gives_up=True))
    assert not results.kept(ANNA).record.is_finished, "a forged one is no finished one"
    assert results.forged([ANNA]) == set()


@pytest.mark.slow
def test_a_killed_writer_loses_and_doubles_nothing(tmp_path, results, database):
    for n_seen in (1, 7, 3):
        with subprocess.Popen(writer(tmp_path), cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            seen = [process.stdout.readline().strip() for _ in range(n_seen)]
            os.kill(process.pid, signal.SIGKILL)
            seen += process.stdout.read().split()
        for content in seen:
            assert results.find(ANNA, content, VERSION, "0" * 12), "what was said to be stored is there"
        contents = database.do(lambda session: [*session.scalars(select(Result.content))])
        assert len(contents) == len({*contents}), "none twice"


def writer(folder) -> list[str]:
    """A process that adds records with different contents."""
    code = f"""
from pathlib import Path
from autograder.classroom.entries import Entry
from autograder.classroom.database import Database, url_of
from autograder.classroom.results import Results
from autograder.grading.record import Record
from autograder.grading.seeds import Seeds
folder = Path({str(folder)!r})
record = Record.model_validate_json((folder / "record.json").read_text())
anna = Entry("anna", "anna", Path("anna"))
with Database(url_of(None, folder), {ASSIGNMENT.name!r}) as database:
    results = Results(database, Seeds(b"a secret"))
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
    url = url_of(postgresql.create("class"), tmp_path)
    for _ in range(2):  # opened again, it has all that was in it
        with Database(url, "transformer") as database:
            results = Results(database, SEEDS)
            for record in (graded("1.2"), graded("1.2"), graded(gives_up=True)):
                results.add(ANNA, record)
            results.add(BOB, graded())
            decide(database, "Ünal", "points", 4.0, "it is \udcff", "tina", "1.3")
            assert results.kept(ANNA).record.judgement == graded("1.2").judgement and results.kept(BOB)
            assert decisions_in(database)["Ünal"].points["1.3"].value == 4
    with Database(url, "transformer") as database:
        assert count(database, Result) == 2
        postgresql.halt()
        try:
            with pytest.raises(NotWrittenError, match=r"postgresql.*cannot be written: .*refused"):
                decisions_in(database)
        finally:
            postgresql.start()


def test_the_last_decision_counts_and_all_stay(database, results):
    results.add(ANNA, graded("1.3"))
    for key, kind, value, why, by, *task in [
        ("anna", "points", 4.0, "it is right", "tina", "1.3"),
        ("anna", "points", 5.0, "it is right", "tina", "1.3"),
        ("anna", "points", 1.0, "why not", "tom", "1.4"),
        ("anna", "points", None, "never mind", "tom", "1.4"),
        ("anna", "comment", None, "Come\nand see \\frac{1}{2}.", "tina", WHOLE),
        ("bob", "comment", None, "gone", "tina", "1.3"),
        ("bob", "comment", None, "", "tina", "1.3"),
        ("bob", "waiver", 2, "ill", "tom"),
        ("bob", "late", 3, "the clock was wrong", "tom"),
        ("anna", "late", 3, "no", "tom"),
        ("anna", "late", None, "as it was", "tom"),
    ]:
        decide(database, key, kind, value, why, by, *task)
    found = decisions_in(database)
    anna, bob = found["anna"], found["bob"]
    points = anna.points.pop("1.3")
    assert (points.value, points.text, points.by, anna.points) == (5.0, "it is right", "tina", {})
    assert abs(now() - points.at) < timedelta(minutes=1)
    assert anna.comments[WHOLE].text == "Come\nand see \\frac{1}{2}." and anna.waiver is anna.late_days is None
    assert bob.late_days.value == 3 and bob.comments == {}
    assert (bob.waiver.value, bob.waiver.text, bob.waiver.by) == (2, "ill", "tom")
    assert count(database, Decided) == 11
    for record in (graded("1.3", version="f" * 16), graded(content="b"), graded(gives_up=True)):
        results.keep(ANNA, results.add(ANNA, record).id)
    assert decisions_in(database)["bob"] == bob, "whatever is graded"


def test_a_student_is_found_by_id_mail_name_or_entry():
    """Accents may be typed in any way, or left out: a platform may export each as a character of its own."""
    ids = {"email": "al@example.org"}
    members = (
        Member(id="anna", name="Anna", key="anna", entry="anna"),
        Member(id="4711", name="Anna Lund", ids=ids, key="lund_55", entry="lund_55.zip"),
        Member(id="4712", name="Carl Lund", key="x_1", entry="carl"),
        Member(id="1", name="Jose\u0301 Nun\u0303ez", key="1"),
        Member(id="2", name="José", key="2"),
        *(Member(id=f"k{n}", name="Kim Lee", key=f"kim{n}") for n in (1, 2)),
        Member(id="5", name="Zoe"),
    )
    roll = Roll(layout="plain", folder="class", has_roster=True, members=members, left_out=())
    names = {
        "4711": ("4711", "anna lund", "AL@example.org", "lund_55.zip", "lund_55"),
        "4712": ("carl",),
        "1": ("José Nuñez", "jose nunez", "Jose\u0301 Nun\u0303ez"),
        "2": ("jose",),
    }
    for key, texts in names.items():
        assert {find_student(roll, text).id for text in texts} == {key}
    for name, words in {
        "kim lee": r"^kim lee: 2 students are called so; name one by id: k1, k2$",
        "ana": r"^ana: no student who handed in is called so; did you mean Anna \(anna\)\?$",
        "lund": r"did you mean Anna Lund \(4711\) or Carl Lund \(4712\)\?$",
        "zoe": "no student who handed in is called so$",
    }.items():
        with pytest.raises(StoreError, match=words):
            find_student(roll, name)


@pytest.mark.parametrize(
    "content, words",
    [
        ("UPDATE settings SET value = 'regression' WHERE name = 'assignment'", "has the marks of 'regression', not of"),
        ("DROP TABLE settings", "has tables of another program, or of another version of the kit"),
        ("CREATE TABLE students (id)", "has tables of another program, or of another version of the kit"),
    ],
)
def test_a_database_of_another_program_version_or_assignment_is_refused_and_stays(tmp_path, results, content, words):
    with closing(sqlite3.connect(tmp_path / "class.db")) as file:
        file.executescript(content)
        before = list(file.iterdump())
        with pytest.raises(StoreError, match=words):
            Database(url_of(None, tmp_path), ASSIGNMENT.name)
        assert list(file.iterdump()) == before


@pytest.mark.parametrize(
    "given",
    [
        "marks.db",
        "mysql://me:secret@host/marks",
        "postgresql://me:secret@host:port/marks",
        "postgresql://me:top@secret@host/marks",
        "postgresql://me/secret@host/marks",
        "postgresql://host?password=secret",
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
