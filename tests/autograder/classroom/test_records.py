"""The folder of results: on disks that are full or gone, and for one process at a time."""

import errno
import os
import shutil

import pytest
from sqlalchemy import text

from autograder.__main__ import main
from autograder.classroom import database
from autograder.classroom.records import hold
from foundation.command_line import UserError

from .conftest import opened, run


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


def finished(output) -> list[str]:
    with opened(output) as results:
        found = results.records(["anna", "bob", "carl"])
    return [key for key, record in found.items() if record.is_finished]


def test_a_full_disk_is_one_line_and_keeps_what_is_finished(output, log, grade, monkeypatch):
    with opened(output) as results:
        n_pages = results.database.do(lambda session: session.execute(text("PRAGMA page_count")).scalar())
    with monkeypatch.context() as on_a_full_disk:
        on_a_full_disk.setattr(database, "SETTINGS", (*database.SETTINGS, f"max_page_count = {n_pages + 2}"))
        status, printed = grade()
    assert status == 1 and "class.db: cannot be written: database or disk is full" in printed
    assert "finished results are kept" in printed
    before = finished(output)
    assert 0 < len(before) < 3
    log()
    assert grade() == (0, "") and len(finished(output)) == 3
    assert sorted([*before, *log()]) == ["anna", "bob", "carl"], "what was finished is not run again"


def test_what_cannot_be_exported_is_one_line(output, log, grade, monkeypatch):
    calls, fsync = [], os.fsync

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    with monkeypatch.context() as on_a_full_disk:
        on_a_full_disk.setattr(os, "fsync", full)
        status, printed = grade()
    assert status == 1 and os.strerror(errno.EIO) in printed and "bob.json" in printed
    assert [path.name for path in (output / "records").iterdir()] == ["anna.json"]
    assert finished(output) == log() == ["anna", "bob", "carl"]
    (output / "class.html").mkdir()
    status, printed = grade()
    assert status == 1 and "class.html: Is a directory; finished results are kept" in printed
    (output / "class.html").rmdir()
    shutil.copy(output / "records" / "anna.json", output / "records" / ".unfinished-17-abc.json")
    assert grade() == (0, "") and log() == []
    names = sorted(path.name for path in (output / "records").iterdir())
    assert names == ["anna.json", "bob.json", "carl.json"], "what a killed process has begun is removed"


def test_one_process_at_a_time_writes_to_a_folder(folder, output, log, grade):
    with hold(output):
        status, printed = grade()
        assert status == 2 and "another command" in printed
        with pytest.raises(UserError), hold(output):
            pass
    assert len(run(folder, output)) == 3
