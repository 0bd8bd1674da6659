"""Where the records of a class cannot be written: one line, status 1, and what is finished stays."""

import errno
import os
import shutil

import pytest
from sqlalchemy import select, text

from autograder.__main__ import main
from autograder.classroom.records import hold
from autograder.classroom.store import database
from autograder.classroom.store.tables import Kept, Result, Submission
from foundation.command_line import UserError

from .conftest import opened, run


def finished(output) -> list[str]:
    with opened(output) as results:
        query = select(Submission.entry).join(Kept, Kept.submission_id == Submission.id)
        query = query.join(Result, Result.id == Kept.result_id).where(Result.is_finished)
        return sorted(results.database.do(lambda session: list(session.scalars(query))))


def test_a_full_disk_is_one_line_and_keeps_what_is_finished(folder, output, log, monkeypatch, capsys):
    with opened(output) as results:
        n_pages = results.database.do(lambda session: session.execute(text("PRAGMA page_count")).scalar())
    monkeypatch.setattr(database, "SETTINGS", (*database.SETTINGS, f"max_page_count = {n_pages + 2}"))
    arguments = ["grade-class", str(folder), "--output", str(output), "--jobs", "1"]
    assert main(arguments) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "class.db: cannot be written: database or disk is full" in printed
    assert "finished results are kept" in printed
    monkeypatch.setattr(database, "SETTINGS", database.SETTINGS[:-1])
    before = finished(output)
    assert 0 < len(before) < 3
    log()
    assert main(arguments) == 0 and len(finished(output)) == 3
    assert sorted([*before, *log()]) == ["anna", "bob", "carl"], "what was finished is not run again"


def test_what_cannot_be_exported_is_one_line(folder, output, log, monkeypatch, capsys):
    calls, fsync = [], os.fsync

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) > 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(descriptor)

    arguments = ["grade-class", str(folder), "--output", str(output), "--jobs", "1"]
    with monkeypatch.context() as on_a_full_disk:
        on_a_full_disk.setattr(os, "fsync", full)
        assert main(arguments) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and os.strerror(errno.EIO) in printed and "bob.json" in printed
    assert [path.name for path in (output / "records").iterdir()] == ["anna.json"]
    assert finished(output) == ["anna", "bob", "carl"] and log() == ["anna", "bob", "carl"]
    assert main(arguments) == 0 and log() == [] and len(list((output / "records").iterdir())) == 3


def test_a_page_that_cannot_be_written_is_one_line(folder, output, log, capsys):
    (output / "class.html").mkdir(parents=True)
    assert main(["grade-class", str(folder), "--output", str(output)]) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "class.html: Is a directory; finished results are kept" in printed
    assert finished(output) == ["anna", "bob", "carl"]


def test_one_process_at_a_time_writes_to_a_folder(folder, output, log, capsys):
    with hold(output):
        assert main(["grade-class", str(folder), "--output", str(output)]) == 2
        assert "another command" in capsys.readouterr().err
        with pytest.raises(UserError), hold(output):
            pass
    assert len(run(folder, output)) == 3


def test_what_a_killed_process_has_begun_is_removed(folder, output, log):
    arguments = ["grade-class", str(folder), "--output", str(output)]
    main(arguments)
    shutil.copy(output / "records" / "anna.json", output / "records" / ".unfinished-17-abc.json")
    main(arguments)
    assert sorted(path.name for path in (output / "records").iterdir()) == ["anna.json", "bob.json", "carl.json"]
