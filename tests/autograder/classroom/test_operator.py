"""What students can do to the folder of a class, and operators to themselves, costs nobody else anything."""

import json
import os

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import take_class
from autograder.grading.record import read_record, write_record
from autograder.grading.seeds import Seeds
from foundation.whole_files import OutputError

from .conftest import ASSIGNMENT, SEEDS, run


@pytest.mark.parametrize("place", ["class/marks", "class", "class/anna", "link/marks"])
def test_records_among_the_submissions_are_refused(folder, log, place, capsys):
    (folder.parent / "link").symlink_to(folder)
    output = folder.parent / place
    assert main(["grade-class", str(folder), "--output", str(output)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and "forged" in printed and log() == []
    assert not (folder / "marks").exists()


def test_submissions_among_the_records_are_refused(folder, output, log):
    run(folder, output)
    with pytest.raises(OutputError, match="holds the records"):
        take_class(output / "records", output, ASSIGNMENT)


def test_a_record_that_is_not_sealed_is_graded_again_with_a_note(folder, output, log, capsys):
    before = run(folder, output)
    assert log() == ["anna", "bob", "carl"] and all(SEEDS.has_sealed(record) for record in before.values())
    path = output / "records" / "anna.json"
    content = json.loads(path.read_text())
    content["judgement"]["parts"][0]["score"] = 0.0
    path.write_text(json.dumps(content))
    forged = before["bob"].changed(judgement=before["bob"].judgement.changed(score=99.0))
    write_record(output / "records" / "bob.json", Seeds(b"guessed").seal(forged))
    capsys.readouterr()
    after = run(folder, output)
    assert log() == ["anna", "bob"]
    printed = capsys.readouterr().err
    assert "note: anna: graded again" in printed and "note: bob: graded again" in printed and "carl" not in printed
    for name in ("anna", "bob"):
        assert after[name].judgement == before[name].judgement
        assert "has not sealed" in after[name].run.notes[0]
    assert not (output / "earlier" / "bob.json").exists(), "a forged record is not kept as an earlier one"
    assert run(folder, output) == after and log() == []


def test_a_seal_vouches_for_every_byte(folder, output, log):
    record = run(folder, output)["anna"]
    for changed in (
        record.changed(submission="eve"),
        record.changed(run=record.run.changed(error="")).changed(run=record.run.changed(host="elsewhere")),
        record.changed(seal=record.seal[:-1] + ("0" if record.seal[-1] != "0" else "1")),
        record.changed(seal=""),
    ):
        assert not SEEDS.has_sealed(changed)
    assert SEEDS.has_sealed(read_record(output / "records" / "anna.json"))


def test_odd_entries_stop_only_themselves(folder, output, log):
    (folder / "loop").symlink_to("loop")
    (folder / "to itself").symlink_to(folder)
    (folder / "layers.py").write_text("# an entry named like a module\n")
    (folder / "unreadable").mkdir(mode=0)
    (folder / "attention.py").mkdir()
    os.mkfifo(folder / "pipe.zip")
    records = run(folder, output, n_children=2)
    assert sorted(log()) == ["anna", "bob", "carl"]
    assert {part.state for part in records["attention.py"].judgement.parts} == {"refused"}
    assert len(records["unreadable"].judgement.parts) == len(ASSIGNMENT.tasks)
    roll, _ = take_class(folder, output, ASSIGNMENT)
    reasons = {one.entry: one.reason for one in roll.left_out}
    assert set(reasons) == {"loop", "to itself", "layers.py", "pipe.zip"} and "a link" in reasons["to itself"]
