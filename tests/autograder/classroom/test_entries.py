"""Entries of a class: whom each is of, and which record; odd ones stop nobody else."""

import os

import pytest

from autograder.classroom.entries import Roll, derived_name, find_students, take_class
from autograder.classroom.grading import Results
from autograder.grading.provenance import Seeds
from autograder.platforms.platform import Student
from foundation.command_line import UserError

from ..conftest import ASSIGNMENT, SEEDS, kept, put, run


def test_odd_entries_stop_only_themselves(folder, output, log):
    """Each submission gets a record, a stray none; what systems leave behind is not even named."""
    no_archive = "-=2+3\n\x1b[2J.zip"
    for name in (".DS_Store", "._anna", "notes.txt", "layers.py"):
        (folder / name).write_text("# an entry named like a module, perhaps\n")
    (folder / no_archive).write_bytes(b"no archive")
    for name in (".dan", "__eve__", "empty", "attention.py"):
        (folder / name).mkdir()
    (folder / "unreadable").mkdir(mode=0)
    (folder / "loop").symlink_to("loop")
    (folder / "to itself").symlink_to(folder)
    os.mkfifo(folder / "pipe.zip")
    records = run(folder, output, n_children=2)
    assert sorted(log()) == ["anna", "bob", "carl"]
    assert records.keys() == {"anna", "bob", "carl", no_archive, "empty", "attention.py", "unreadable"}
    for name in (no_archive, "empty", "attention.py"):
        assert {part.state for part in records[name].judgement.parts} == {"not graded"} and records[name].is_finished
    assert len(records["unreadable"].judgement.parts) == len(ASSIGNMENT.tasks)
    reasons = {entry.entry: entry.reason for entry in take_class(folder, output, ASSIGNMENT)[0].left_out}
    strays = {".dan": "hidden", "__eve__": "hidden", "loop": "a link", "to itself": "a link"}
    strays |= dict.fromkeys(("notes.txt", "layers.py"), "neither a folder, an archive") | {"pipe.zip": "neither a file"}
    assert reasons.keys() == strays.keys() and all(reasons[entry].startswith(why) for entry, why in strays.items())


def test_a_record_that_is_not_sealed_is_graded_again(folder, output, log):
    before = run(folder, output)
    assert log() == ["anna", "bob", "carl"] and all(SEEDS.has_sealed(record) for record in before.values())
    put(output, "anna", before["anna"].changed(judgement=before["anna"].judgement.changed(notes=("hello",))))
    forged = before["bob"].changed(judgement=before["bob"].judgement.changed(score=99.0))
    put(output, "bob", Seeds(b"guessed").seal(forged))
    assert list(Results(output, SEEDS).records(before)) == ["carl"]
    after = run(folder, output)
    assert log() == ["anna", "bob"]
    for name in ("anna", "bob"):
        assert after[name].judgement == before[name].judgement
    assert run(folder, output) == after and log() == []


def test_no_entrys_record_is_that_of_another(folder, output, log):
    victim = "Jörg Müller"
    for name in (victim, derived_name(victim), derived_name(derived_name(victim)), "Anna", "ANNA", "a.b", "a.B"):
        (folder / name).mkdir()
        (folder / name / "layers.py").write_text(f"# by {name}\n")
    keys = {entry.entry: entry.key for entry in take_class(folder, output, ASSIGNMENT)[1]}
    assert len({key.casefold() for key in keys.values()}) == len(keys) == 10 and keys["bob"] == "bob"
    assert len(run(folder, output)) == len(kept(folder, output)) == 10
    assert keys == {entry.entry: entry.key for entry in take_class(folder, output, ASSIGNMENT)[1]}


def test_a_student_is_found_by_id_mail_name_or_entry_and_a_group_by_its_own():
    """Accents may be typed in any way, or left out: a platform may export each as a character of its own."""
    ids = {"email": "al@example.org"}
    members = (
        Student(id="anna", name="Anna", key="anna", entry="anna"),
        Student(id="4711", name="Anna Lund", ids=ids, key="lund_55", entry="lund_55.zip"),
        Student(id="1", name="Jose\u0301 Nun\u0303ez", key="1"),
        *(Student(id=f"k{n}", name="Kim Lee", key=f"kim{n}") for n in (1, 2)),
        Student(id="5", name="Zoe"),
        *(Student(id=f"t{n}", name=f"T{n}", key="team", entry="hw-team", group="Team 1") for n in (1, 2)),
    )
    roll = Roll(assignment="a", layout="plain", folder="class", has_roster=True, members=members, left_out=())
    expected = dict.fromkeys(("4711", "anna lund", "Lund, Anna", "AL@example.org", "lund_55.zip", "lund_55"), "4711")
    expected |= {
        "José Nuñez": "1",
        "jose nunez": "1",
        "Anna": "anna",
        "T1": "t1",
        "team 1": "t1 t2",
        "hw-team": "t1 t2",
    }
    for text, ids in expected.items():
        assert " ".join(student.id for student in find_students(roll, text)) == ids
    for name, words in {
        "kim lee": r"^kim lee: 2 students are called so; name one by id: k1, k2$",
        "zoe ray": "no student of the class is called so; expected an id, an e-mail address",
    }.items():
        with pytest.raises(UserError, match=words):
            find_students(roll, name)


def test_a_partner_without_a_time_in_the_roster_is_as_late_as_who_handed_in(folder, tmp_path):
    roster = tmp_path / "worksheet.csv"
    lines = ["Identifier,Full name,Group,Last modified (submission)", "bob,Bob,B,-", "dan,Dan,A,-"]
    roster.write_text("\n".join([*lines, 'anna,Anna,A,"Saturday, 19 December 2026, 11:20 PM"', "carl,Carl,C,-\n"]))
    members = {member.id: member for member in take_class(folder, None, ASSIGNMENT, roster)[0].members}
    assert f"{members['dan'].submitted:%d %H:%M}" == f"{members['anna'].submitted:%d %H:%M}" == "19 23:20"
    assert members["dan"].key == "anna" and members["bob"].submitted is members["carl"].submitted is None
