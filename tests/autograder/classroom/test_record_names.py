"""Each entry has a record of its own, whatever its name."""

from autograder.classroom import records
from autograder.classroom.entries import take_class
from autograder.classroom.records import file_name

from .conftest import ASSIGNMENT, kept, run


def test_names_of_records_are_files_and_differ():
    names = ["anna", "a b", "a_b", "a\nb", "x" * 300, "x" * 301, "..", ".a", "é", "a/b", "anna.zip", "\udcff"]
    made = [file_name(name) for name in names]
    assert len(set(made)) == len(made) and made[0] == "anna" and made[-2] == "anna.zip"
    assert all(len(name) <= 100 and name.isascii() and "/" not in name and name[0] != "." for name in made)


def test_no_entrys_record_is_that_of_another(folder, output, log):
    victim = "Jörg Müller"
    for name in (victim, file_name(victim), file_name(file_name(victim)), "Anna", "ANNA", "a.b", "a.B"):
        (folder / name).mkdir()
        (folder / name / "layers.py").write_text(f"# by {name}\n")
    _, entries = take_class(folder, output, ASSIGNMENT)
    assert len({entry.record.name.casefold() for entry in entries}) == len(entries) == 10
    assert len(run(folder, output)) == len(kept(folder, output)) == 10
    again = {entry.entry: entry.record.name for entry in take_class(folder, output, ASSIGNMENT)[1]}
    assert again == {entry.entry: entry.record.name for entry in entries}
    assert again["bob"] == "bob.json"


def test_names_that_come_to_the_same_record_stop_nobody(folder, output, monkeypatch):
    monkeypatch.setattr(records, "FEW", 0)  # as if somebody had found two names with the same digits
    before = {entry.entry: entry.record.name for entry in take_class(folder, output, ASSIGNMENT)[1]}
    for name in ("a b", "a c", "a\nb", "a_b-"):
        (folder / name).mkdir()
    made = {entry.entry: entry.record.name for entry in take_class(folder, output, ASSIGNMENT)[1]}
    assert len(set(made.values())) == len(made) == 7
    assert {name: made[name] for name in before} == before, "nobody else's record has another name"
