"""The folder of results, and what else is kept about each submission."""

import errno
import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from sqlalchemy import select, text

from autograder.__main__ import main
from autograder.classroom.entries import Entry
from autograder.classroom.records import KeptAnswers, hold
from autograder.classroom.store import database
from autograder.classroom.store.tables import Kept, Result, Submission
from autograder.grading.seeds import Seeds
from foundation.child_processes import Ended
from foundation.command_line import UserError

from .conftest import opened, run

SEEDS = Seeds(b"a secret")
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


def find_out(folder, entries=ENTRIES, work=work):
    return {entry.key: answer for entry, answer in kept_in(folder).find_out(entries, work, 60, 1)}


def names_in(folder, contents=CONTENTS, **options):
    return [*kept_in(folder, **options).up_to_date(ENTRIES, contents)]


def test_answers_come_back_as_they_were(tmp_path, capsys):
    found = find_out(tmp_path)
    assert found == {name: Found(f"about {name}") for name in ("anna", "bob", "carl")}
    assert kept_in(tmp_path).up_to_date(ENTRIES, CONTENTS) == found
    assert capsys.readouterr().err == "note: kept from an earlier run: 3 of 3 submissions\n"


def test_what_no_longer_holds_does_not_come_back(tmp_path, capsys):
    find_out(tmp_path)
    capsys.readouterr()
    assert names_in(tmp_path, contents={**CONTENTS, ENTRIES[1]: "other files"}) == ["anna", "carl"]
    assert names_in(tmp_path, contents={ENTRIES[0]: CONTENTS[ENTRIES[0]]}) == ["anna"], "the others cannot be read"
    assert names_in(tmp_path, made_with="a newer grader") == []
    assert "sealed" not in capsys.readouterr().err


@pytest.mark.parametrize("change", ["answer", "content", "made_with", "key", "seal"])
def test_what_others_wrote_does_not_come_back(tmp_path, capsys, change):
    find_out(tmp_path)
    path = tmp_path / "bob.json"
    content = json.loads(path.read_text())
    content[change] = asdict(Found("forged")) if change == "answer" else "forged \u00e9"
    path.write_text(json.dumps(content))
    assert names_in(tmp_path) == ["anna", "carl"]
    printed = capsys.readouterr().err
    assert "note: this term's grader has not sealed what was kept of bob.zip: done again\n" in printed


def test_one_students_answer_is_no_others(tmp_path):
    find_out(tmp_path)
    (tmp_path / "bob.json").write_bytes((tmp_path / "anna.json").read_bytes())
    assert names_in(tmp_path, contents=dict.fromkeys(ENTRIES, CONTENTS[ENTRIES[0]])) == ["anna"]
    assert names_in(tmp_path, seeds=Seeds(b"another term's")) == []


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"key": "bob"}'])
def test_what_is_no_answer_is_no_obstacle(tmp_path, text):
    find_out(tmp_path)
    (tmp_path / "bob.json").write_bytes(text)
    assert names_in(tmp_path) == ["anna", "carl"]
    assert find_out(tmp_path)["bob"] == Found("about bob") and len(names_in(tmp_path)) == 3


def test_a_child_that_dies_stops_no_other_and_keeps_nothing(tmp_path):
    def dying(entry):
        if entry.key == "bob":
            os._exit(9)
        return work(entry)

    found = find_out(tmp_path, work=dying)
    assert isinstance(found["bob"], Ended) and found["bob"].reason == "ended with status 9"
    assert names_in(tmp_path) == ["anna", "carl"]


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
