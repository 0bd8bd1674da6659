"""Whose each submission of a class is, and which record; odd entries stop nobody else."""

import os
from pathlib import Path

import pytest

from autograder.classroom.entries import Roll, derived_name, find_students, take_class
from autograder.classroom.grading import Results
from autograder.classroom.roster import hint_for, owners_of, read_roster
from autograder.grading.provenance import Seeds
from autograder.platforms.platform import HandedIn, Person, Student
from foundation.command_line import UserError

from ..conftest import ASSIGNMENT, SEEDS, examples_in, kept, put, run

EXAMPLES = examples_in("classroom/rosters.toml")


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
    strays = dict.fromkeys((".dan", "__eve__", "loop", "to itself", "pipe.zip"), "a hidden name, a link")
    strays |= dict.fromkeys(("notes.txt", "layers.py"), "neither a folder, an archive")
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
    members = tuple(Student(**member) for member in EXAMPLES["members"])
    roll = Roll(assignment="a", layout="plain", folder="class", has_roster=True, members=members, left_out=())
    for case in EXAMPLES["found"]:
        for text in case["by"]:
            assert [student.id for student in find_students(roll, text)] == case["ids"]
    with pytest.raises(UserError, match=r"^kim lee: 2 students are called so; name one by id: k1, k2$"):
        find_students(roll, "kim lee")


def test_a_partner_without_a_time_in_the_roster_is_as_late_as_who_handed_in(folder, tmp_path):
    roster = tmp_path / "worksheet.csv"
    lines = ["Identifier,Full name,Group,Last modified (submission)", "bob,Bob,B,-", "dan,Dan,A,-"]
    roster.write_text("\n".join([*lines, 'anna,Anna,A,"Saturday, 19 December 2026, 11:20 PM"', "carl,Carl,C,-\n"]))
    members = {member.id: member for member in take_class(folder, None, ASSIGNMENT, roster)[0].members}
    assert f"{members['dan'].submitted:%d %H:%M}" == f"{members['anna'].submitted:%d %H:%M}" == "19 23:20"
    assert members["dan"].key == "anna" and members["bob"].submitted is members["carl"].submitted is None


def test_of_a_group_with_two_submissions_only_who_handed_in_none_is_undecided(folder, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("id,name,group\nanna,Anna,A\nbob,Bob,A\ndan,Dan,A\ncarl,Carl,C\n")
    roll, entries = take_class(folder, None, ASSIGNMENT, roster)
    assert [entry.entry for entry in entries] == ["anna", "bob", "carl"]
    assert [name for name, _ in roll.to_decide] == ["Dan"]


@pytest.fixture
def roster(tmp_path):
    def write(text, encoding="utf-8"):
        (tmp_path / "roster.csv").write_text(text, encoding=encoding)
        return read_roster(tmp_path / "roster.csv")

    return write


def owners(roster, *people):
    """Ids of the owners of submissions, each of a person or of several; "" and why where there are none."""
    submissions = [HandedIn("x", Path("x"), who if isinstance(who, tuple) else (who,), "x") for who in people]
    owned = owners_of(submissions, roster)
    claims = map(owned.get, submissions)
    return [" ".join(student.id for student in own) or why for own, why in claims]


@pytest.mark.parametrize("case", EXAMPLES["named"])
def test_a_line_is_a_student_whose_first_name_comes_first(roster, case):
    (student,) = roster(case["roster"], "utf-8-sig")
    assert student.name == case["name"]
    assert owners([student], Person("tablesjrrobert" if "Jr" in case["name"] else "tablesrobert")) == [student.id]


def person_of(table: dict[str, str] | list[dict[str, str]]) -> Person | tuple[Person, ...]:
    if isinstance(table, list):
        return tuple(map(person_of, table))
    ids = {kind: value for kind, value in table.items() if kind not in ("name", "plain")}
    return Person(table.get("name", ""), ids, table.get("plain", False))


@pytest.mark.parametrize("case", EXAMPLES["taken"])
def test_names_that_come_to_the_same_are_never_taken_for_each_other(roster, case):
    """As it is spelled comes first, an id decides, and what is left is for a person, such as half a group."""
    assert owners(roster(EXAMPLES["groups"]), *map(person_of, case["people"])) == case["ids"]


def test_an_address_may_be_a_login(roster):
    """As in the identifiers of courses whose students sign in by e-mail."""
    (student,) = roster("identifier,name\nanna@uni.example,Anna\n")
    assert student.id == student.ids["login"] == student.ids["email"] == "anna@uni.example"
    assert owners([student], Person("", {"email": "anna@uni.example"})) == [student.id]


def test_without_a_roster_students_are_those_whom_the_download_names():
    people = [Person("Anna", {"number": "7"}), Person("Anna S.", {"number": "7"}), Person("Anna")]
    assert owners((), *people, ()) == ["7", "7", "Anna", "x"]


HANDLES = "id,name,handle\nu1,Anna Smith,anna-s\nu2,Bob Ray,bob\n"


@pytest.mark.parametrize(
    ("person", "words"),
    [
        (Person("", {"github": "anna-s"}), "its column 'handle' has 1 of 1 name: call it 'github_username'"),
        (Person("Bob Ray", {"canvas": "7"}), ""),
        (Person("Zoe"), "none of its columns has anybody of entry: is it this class's roster?"),
    ],
)
def test_a_roster_that_fits_nobody_says_which_column_would(roster, person, words):
    hint = hint_for([HandedIn("entry", Path("entry"), (person,), "entry")], roster(HANDLES))
    assert words in hint and bool(words) == bool(hint)


@pytest.mark.parametrize("case", EXAMPLES["refused"])
def test_an_odd_roster_is_one_line(roster, case):
    with pytest.raises(UserError) as caught:
        roster(case["roster"], case.get("encoding", "utf-8"))
    assert case["reason"] in str(caught.value) and "\n" not in str(caught.value)
