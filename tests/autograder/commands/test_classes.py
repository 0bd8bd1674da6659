"""`grade-class`: what is written and where; full disks, folders of others, and shares of a class."""

import errno
import os

import pytest

from autograder.classroom.entries import ROLL
from autograder.classroom.records import hold


def test_the_command_writes_records_and_summaries_and_resumes(typed, folder, output, log):
    (folder / "dan\nanna,100\r\u2028.zip").write_bytes(b"no archive")
    assert typed.grade() == 1
    assert "4 submissions, mean 100.0" in typed.out and "look at these first:\n  dan\\nanna" in typed.out
    files = {"class.html", "class.json", "records", "students", "summary.csv"}
    assert {path.name for path in output.iterdir()} == files
    heading, *rows = (output / "summary.csv").read_text(encoding="utf-8-sig").splitlines()
    assert heading.startswith("id,name,submission,late,status,reason,score,max_score,bleu,1.1,") and len(rows) == 4
    assert log() == ["anna", "bob", "carl"]
    assert typed.grade("--again", "--jobs", "2") == 1 and log() == ["anna", "bob", "carl"]


@pytest.mark.parametrize("place", ["class/marks", "class", "class/anna", "link/marks"])
def test_records_among_the_submissions_are_refused(typed, folder, log, place):
    (folder.parent / "link").symlink_to(folder)
    typed.output = folder.parent / place
    assert typed.grade() == 2 and typed.err.count("\n") == 1 and "forged" in typed.err
    assert log() == [] and not (folder / "marks").exists()


def test_a_full_disk_is_one_line_and_keeps_what_is_finished(typed, output, log, monkeypatch):
    calls, fsync = [], os.fsync

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 2:  # the roll, and a record
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as on_a_full_disk:
        on_a_full_disk.setattr(os, "fsync", full)
        assert typed.grade() == 1 and typed.err.count("\n") == 1
    assert f"bob.json: cannot be written: {os.strerror(errno.ENOSPC)}; finished results are kept" in typed.err
    assert [path.name for path in (output / "records").iterdir()] == ["anna.json"]
    assert log() == ["anna", "bob"]
    (output / "class.html").mkdir()
    assert typed.grade() == 1 and "class.html: Is a directory; finished results are kept" in typed.err
    assert log() == ["bob", "carl"], "what was finished is not run again"
    (output / "class.html").rmdir()
    assert typed.grade() == 0 and log() == []
    assert sorted(path.name for path in (output / "records").iterdir()) == ["anna.json", "bob.json", "carl.json"]


def test_a_folder_of_another_assignment_is_refused(typed, output):
    typed.grade()
    (output / ROLL).write_text((output / ROLL).read_text().replace('"transformer"', '"regression"'))
    assert typed.grade() == 2
    assert "has the marks of 'regression', not of 'transformer'; name its --assignment" in typed.err


def test_shares_of_a_class_are_graded_at_once_and_then_gathered(typed, output, log):
    """A share that is started again runs nothing twice; only the command without one writes pages, and works alone."""
    for share, graded in (("1/2", ["anna", "carl"]), ("2/2", ["bob"]), ("1/2", [])):
        with hold(output, is_alone=False):
            assert typed.grade("--shard", share) == 0 and log() == graded
            assert typed.grade() == 2 and "another command is writing there" in typed.err
    assert {path.name for path in output.iterdir()} == {"class.json", "records"}
    assert typed.grade() == 0 and log() == [] and (output / "summary.csv").exists()
    with hold(output):
        assert typed.grade("--shard", "2/2") == 2 and "another command" in typed.err
    with pytest.raises(SystemExit):
        typed.grade("--shard", "3/2")
    assert "'3/2': expected I/N with I from 1 to N" in typed.capsys.readouterr().err
