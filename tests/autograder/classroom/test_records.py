"""The folder of results on disks that are full or gone, and what is kept about each submission for the next run."""

import errno
import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from sqlalchemy import text

from autograder.__main__ import main
from autograder.classroom import database
from autograder.classroom.entries import Entry
from autograder.classroom.records import KeptAnswers, hold
from autograder.grading.seeds import Seeds
from foundation.child_processes import Ended
from foundation.command_line import UserError

from .conftest import SEEDS, opened, run

ENTRIES = [Entry(name, f"{name}.zip", Path(name)) for name in ("anna", "bob", "carl")]
CONTENTS = {entry: f"files of {entry.key}" for entry in ENTRIES}


@dataclass(frozen=True)
class Found:
    text: str
    numbers: tuple[float, ...] = (0.1, 2.0)


def kept_in(folder, made_with="all the rest", seeds=SEEDS) -> KeptAnswers[Found]:
    return KeptAnswers(folder, Found, made_with, seeds)


def work(entry):
    return CONTENTS[entry], Found(f"about {entry.key}")


def find_out(folder, work=work):
    return {entry.key: answer for entry, answer in kept_in(folder).find_out(ENTRIES, work, 60, 1)}


def names_in(folder, contents=CONTENTS, **options):
    return [*kept_in(folder, **options).up_to_date(ENTRIES, contents)]


def test_answers_come_back_as_they_were_as_long_as_they_hold(tmp_path, capsys):
    found = find_out(tmp_path)
    assert found == {name: Found(f"about {name}") for name in ("anna", "bob", "carl")}
    assert kept_in(tmp_path).up_to_date(ENTRIES, CONTENTS) == found
    assert capsys.readouterr().err == "note: kept from an earlier run: 3 of 3 submissions\n"
    assert names_in(tmp_path, contents={**CONTENTS, ENTRIES[1]: "other files"}) == ["anna", "carl"]
    assert names_in(tmp_path, contents={ENTRIES[0]: CONTENTS[ENTRIES[0]]}) == ["anna"], "the others cannot be read"
    assert names_in(tmp_path, made_with="a newer grader") == [] and "sealed" not in capsys.readouterr().err
    assert names_in(tmp_path, seeds=Seeds(b"another term's")) == []


FORGED = {"content": "forged \u00e9", "made_with": "forged", "key": "forged", "seal": "forged"}
FORGED["answer"] = asdict(Found("forged"))


@pytest.mark.parametrize("change", ["content", "answer", "seal", b"\xff", b"[" * 100_000, "anna.json"])
def test_what_is_not_this_terms_does_not_come_back_and_is_no_obstacle(tmp_path, capsys, change):
    find_out(tmp_path)
    path, contents = tmp_path / "bob.json", CONTENTS
    if isinstance(change, bytes):
        path.write_bytes(change)
    elif change == "anna.json":
        path.write_bytes((tmp_path / change).read_bytes())
        contents = dict.fromkeys(ENTRIES, CONTENTS[ENTRIES[0]])
    else:
        path.write_text(json.dumps(json.loads(path.read_text()) | {change: FORGED[change]}))
    assert "bob" not in names_in(tmp_path, contents)
    printed = capsys.readouterr().err
    assert "note: this term's grader has not sealed what was kept of bob.zip: done again\n" in printed
    assert find_out(tmp_path)["bob"] == Found("about bob") and len(names_in(tmp_path)) == 3


def test_a_child_that_dies_stops_no_other_and_keeps_nothing(tmp_path):
    def dying(entry):
        if entry.key == "bob":
            os._exit(9)
        return work(entry)

    found = find_out(tmp_path, work=dying)
    assert isinstance(found["bob"], Ended) and found["bob"].reason == "ended with status 9"
    assert names_in(tmp_path) == ["anna", "carl"]


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
