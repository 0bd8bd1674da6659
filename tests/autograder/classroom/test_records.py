"""The folder of results: what is not sealed is not read, decisions by hand stay; on disks that are full or gone."""

import errno
import os
import shutil
from datetime import timedelta

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import ROLL, Member, Roll, find_student
from autograder.classroom.records import WHOLE, Results, decide, decisions_in, hold
from autograder.grading.record import now
from autograder.grading.seeds import Seeds
from foundation.command_line import UserError

from .conftest import SEEDS, graded, put, run


def test_what_is_not_sealed_is_not_read(tmp_path):
    results, record = Results(tmp_path, SEEDS), graded("1.2")
    results.keep("anna", record)
    results.wait("anna", graded("1.3"))
    assert results.kept("anna").changed(seal="") == record and not results.is_forged("anna")
    assert results.waiting("anna").judgement == graded("1.3").judgement
    assert results.kept("bob") is None and not results.is_forged("bob")
    forged = record.changed(judgement=record.judgement.changed(score=100.0))
    for one in (forged, Seeds(b"guessed").seal(forged)):
        put(tmp_path, "anna", one)
        assert results.kept("anna") is None and results.is_forged("anna")
    results.keep("anna", record)
    assert list(results.records(["anna", "bob"])) == ["anna"] and results.waiting("anna") is None


@pytest.fixture
def grade(folder, output, log, capsys):
    """Runs the command; its status, and what it has said is wrong."""

    def grade() -> tuple[int, str]:
        capsys.readouterr()
        status = main(["grade-class", str(folder), "--output", str(output), "--jobs", "1"])
        printed = capsys.readouterr().err
        assert printed.count("\n") == bool(status)
        return status, printed

    return grade


def test_a_full_disk_is_one_line_and_keeps_what_is_finished(output, log, grade, monkeypatch):
    calls, fsync = [], os.fsync

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as on_a_full_disk:
        on_a_full_disk.setattr(os, "fsync", full)
        status, printed = grade()
    assert status == 1 and f"bob.json: cannot be written: {os.strerror(errno.ENOSPC)}" in printed
    assert "finished results are kept" in printed
    assert [path.name for path in (output / "records").iterdir()] == ["anna.json"]
    assert log() == ["anna", "bob"]
    (output / "class.html").mkdir()
    status, printed = grade()
    assert status == 1 and "class.html: Is a directory; finished results are kept" in printed
    assert log() == ["bob", "carl"], "what was finished is not run again"
    (output / "class.html").rmdir()
    shutil.copy(output / "records" / "anna.json", output / "records" / ".unfinished-17-abc.json")
    assert grade() == (0, "") and log() == []
    names = sorted(path.name for path in (output / "records").iterdir())
    assert names == ["anna.json", "bob.json", "carl.json"], "what a killed process has begun is removed"


def test_a_folder_of_another_assignment_is_refused(output, grade):
    grade()
    (output / ROLL).write_text((output / ROLL).read_text().replace('"transformer"', '"regression"'))
    status, printed = grade()
    assert status == 2 and "has the marks of 'regression', not of 'transformer'; name its --assignment" in printed


def test_one_process_at_a_time_writes_to_a_folder(folder, output, log, grade):
    with hold(output):
        status, printed = grade()
        assert status == 2 and "another command" in printed
        with pytest.raises(UserError), hold(output):
            pass
    assert len(run(folder, output)) == 3


def test_the_last_decision_counts_and_all_stay(tmp_path):
    for key, kind, value, why, by, *task in [
        ("anna", "points", 4.0, "it is right", "tina", "1.3"),
        ("anna", "points", 5.0, "it is right", "tina", "1.3"),
        ("anna", "points", 1.0, "why not", "tom", "1.4"),
        ("anna", "points", None, "never mind", "tom", "1.4"),
        ("anna", "comment", None, "Come\nand see \\frac{1}{2}.", "tina", WHOLE),
        ("bob", "comment", None, "gone", "tina", "1.3"),
        ("bob", "comment", None, "", "tina", "1.3"),
        ("bob", "late", 3, "the clock was wrong", "tom"),
        ("anna", "late", 3, "no", "tom"),
        ("anna", "late", None, "as it was", "tom"),
    ]:
        decide(tmp_path, key, kind, value, why, by, *task)
    found = decisions_in(tmp_path)
    anna, bob = found["anna"], found["bob"]
    points = anna.points.pop("1.3")
    assert (points.value, points.text, points.by, anna.points) == (5.0, "it is right", "tina", {})
    assert abs(now() - points.at) < timedelta(minutes=1)
    assert anna.comments[WHOLE].text == "Come\nand see \\frac{1}{2}." and anna.late_days is None
    assert bob.late_days.value == 3 and bob.comments == {}
    assert len((tmp_path / "decisions.jsonl").read_text().splitlines()) == 10


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
    roll = Roll(assignment="a", layout="plain", folder="class", has_roster=True, members=members, left_out=())
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
        "ana": "^ana: no student who handed in is called so$",
        "lund": r"did you mean Anna Lund \(4711\) or Carl Lund \(4712\)\?$",
        "zoe": "no student who handed in is called so$",
    }.items():
        with pytest.raises(UserError, match=words):
            find_student(roll, name)
