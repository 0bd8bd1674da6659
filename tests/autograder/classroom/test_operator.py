"""What students can do to the folder of a class, and operators to themselves, costs nobody else anything."""

import os

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import Member, Roll, take_class
from autograder.classroom.records import file_name
from autograder.grading.seeds import Seeds
from foundation.command_line import UserError

from .conftest import ASSIGNMENT, SEEDS, kept, put, run


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
    with pytest.raises(UserError, match="holds the records"):
        take_class(output / "records", output, ASSIGNMENT)


def test_a_record_that_is_not_sealed_is_graded_again_with_a_note(folder, output, log, capsys):
    before = run(folder, output)
    assert log() == ["anna", "bob", "carl"] and all(SEEDS.has_sealed(record) for record in before.values())
    put(output, "anna", before["anna"].changed(judgement=before["anna"].judgement.changed(notes=("hello",))))
    forged = before["bob"].changed(judgement=before["bob"].judgement.changed(score=99.0))
    put(output, "bob", Seeds(b"guessed").seal(forged))
    capsys.readouterr()
    after = run(folder, output)
    assert log() == ["anna", "bob"]
    printed = capsys.readouterr().err
    assert "note: anna: graded again" in printed and "note: bob: graded again" in printed and "carl" not in printed
    for name in ("anna", "bob"):
        assert after[name].judgement == before[name].judgement
        assert "has not sealed" in after[name].run.notes[0]
    assert run(folder, output) == after and log() == []


def test_a_record_that_somebody_has_changed_in_its_file_is_written_anew(folder, output, log):
    arguments = ["grade-class", str(folder), "--output", str(output)]
    path = output / "records" / "anna.json"
    main(arguments)
    text = path.read_text()
    path.write_text(text.replace("passed", "failed"))
    log()
    assert main(arguments) == 0 and path.read_text() == text and log() == []


def test_odd_entries_stop_only_themselves(folder, output, log):
    (folder / "loop").symlink_to("loop")
    (folder / "to itself").symlink_to(folder)
    (folder / "layers.py").write_text("# an entry named like a module\n")
    (folder / "unreadable").mkdir(mode=0)
    (folder / "attention.py").mkdir()
    os.mkfifo(folder / "pipe.zip")
    found = run(folder, output, n_children=2)
    assert sorted(log()) == ["anna", "bob", "carl"]
    assert {part.state for part in found["attention.py"].judgement.parts} == {"not graded"}
    assert len(found["unreadable"].judgement.parts) == len(ASSIGNMENT.tasks)
    roll, _ = take_class(folder, output, ASSIGNMENT)
    reasons = {one.entry: one.reason for one in roll.left_out}
    assert set(reasons) == {"loop", "to itself", "layers.py", "pipe.zip"} and "a link" in reasons["to itself"]


def test_no_entrys_record_is_that_of_another(folder, output, log):
    victim = "Jörg Müller"
    for name in (victim, file_name(victim), file_name(file_name(victim)), "Anna", "ANNA", "a.b", "a.B"):
        (folder / name).mkdir()
        (folder / name / "layers.py").write_text(f"# by {name}\n")
    _, entries = take_class(folder, output, ASSIGNMENT)
    assert len({entry.key.casefold() for entry in entries}) == len(entries) == 10
    assert len(run(folder, output)) == len(kept(folder, output)) == 10
    again = {entry.entry: entry.key for entry in take_class(folder, output, ASSIGNMENT)[1]}
    assert again == {entry.entry: entry.key for entry in entries}
    assert again["bob"] == "bob"


def test_two_students_of_one_name_are_told_apart_by_their_ids():
    twins = [Member(id=id_, name="Anna Smith", key=id_) for id_ in ("7", "8")]
    members = (*twins, Member(id="9", name="Bob", key="8"))
    roll = Roll(layout="plain", folder="class", has_roster=True, members=members, left_out=())
    assert roll.names() == {"7": "Anna Smith (7)", "8": "Anna Smith (8), Bob"}
