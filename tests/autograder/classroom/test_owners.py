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
    """Accents may be typed in any way, or left out: a platform may export each as a character of its own."""
    members = (
        Student(id="anna", name="Anna", key="anna", entry="anna"),
        Student(id="4711", name="Anna Lund", ids={"email": "al@example.org"}, key="lund_55", entry="lund_55.zip"),
        Student(id="1", name="Jose\u0301 Nun\u0303ez", key="1"),
        *(Student(id=f"k{n}", name="Kim Lee", key=f"kim{n}") for n in (1, 2)),
        *(Student(id=f"t{n}", name=f"T{n}", key="team", entry="hw-team", group="Team 1") for n in (1, 2)),
    )
    roll = Roll(assignment="a", layout="plain", folder="class", has_roster=True, members=members, left_out=())
    names = {
        "4711": ("4711", "anna lund", "Lund, Anna", "AL@example.org", "lund_55.zip", "lund_55"),
        "1": ("José Nuñez", "jose nunez"),
        "anna": ("Anna",),
        "t1": ("T1",),
        "t1 t2": ("team 1", "hw-team"),
    }
    for ids, texts in names.items():
        for text in texts:
            assert " ".join(student.id for student in find_students(roll, text)) == ids
    with pytest.raises(UserError, match=r"^kim lee: 2 students are called so; name one by id: k1, k2$"):
        find_students(roll, "kim lee")


def test_a_partner_without_a_time_in_the_roster_is_as_late_as_who_handed_in(folder, tmp_path):
    roster = tmp_path / "worksheet.csv"
    lines = ["Identifier,Full name,Group,Last modified (submission)", "bob,Bob,B,-", "dan,Dan,A,-"]
    roster.write_text("\n".join([*lines, 'anna,Anna,A,"Saturday, 19 December 2026, 11:20 PM"', "carl,Carl,C,-\n"]))
    members = {member.id: member for member in take_class(folder, None, ASSIGNMENT, roster)[0].members}
    assert f"{members['dan'].submitted:%d %H:%M}" == f"{members['anna'].submitted:%d %H:%M}" == "19 23:20"
    assert members["dan"].key == "anna" and members["bob"].submitted is members["carl"].submitted is None


@pytest.fixture
def roster(tmp_path):
    def write(text, encoding="utf-8"):
        (tmp_path / "roster.csv").write_text(text, encoding=encoding)
        return read_roster(tmp_path / "roster.csv")

    return write


def owners(roster, *people):
    """Ids of the owners of submissions, each of a person or of several."""
    submissions = [HandedIn("x", Path("x"), who if isinstance(who, tuple) else (who,), "x") for who in people]
    owned = owners_of(submissions, roster)
    return [" ".join(student.id for student in owned[submission]) for submission in submissions]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('id,name\n1,"Tables, Robert"\n', "Robert Tables"),
        ("First Name,Last Name,Role\nRobert,Tables,\nC,D,Instructor\nE,F,TA\n", "Robert Tables"),
        ("id;name;Essay, draft, notes, and sources\n7;Robert Tables;5\n", "Robert Tables"),
        ('id\tname\t"a;b;c;d,e,f,g"\n7\tRobert Tables\t\n', "Robert Tables"),
        ("id,name\n7,Robert\u00a0Tables\n", "Robert\u00a0Tables"),  # a space that keeps words together
        ('LastName,FirstName,ID,SIS User ID,SIS Login ID\n"Tables, Jr.",Robert,1,u1,rt\n', "Robert Tables, Jr."),
    ],
)
def test_a_line_is_a_student_whose_first_name_comes_first(roster, text, name):
    (student,) = roster(text, "utf-8-sig")
    assert student.name == name
    assert owners([student], Person("tablesjrrobert" if "Jr" in name else "tablesrobert")) == [student.id]


GROUPS = "id,name,canvas id,participant,group,e-mail\n" + "".join(
    f"{name.lower()},{name},{id_},{group},{name[0]}@x.org\n"
    for name, id_, group in [
        ("Anna", "55,55", "Group 1.1"),
        ("Ben", "56,56", "Group 1.1"),
        ("Cara", "57,57", "Group 11"),
        ("Dan", "58,58", "Group 11"),
        ("José Roy", "61,61", "C"),
        ("Jose Roy", "62,62", "C++"),
        ("Eve", "63,63", "C#"),
        ("Fay", "64,64", "team a"),
        ("Gus", "65,65", "Team A"),
        ("Kim Lee", "66,66", ""),
        ("Lee Kim", "67,67", "!!"),
        ("Zoe von Berg", "68,68", ""),
    ]
)


def canvas_(name, id_):
    return Person(name, {"canvas": id_}, is_plain=True)


def moodle_(name, id_):
    return Person(name, {"moodle": id_})


@pytest.mark.parametrize(
    ("people", "ids"),
    [
        ([Person("Anna")], ["anna ben"]),  # who handed in nothing shares what the group did
        ([canvas_("anna", "55")], ["anna ben"]),
        ([Person("", {"login": "ben"}), Person("Cara")], ["ben anna", "cara dan"]),
        ([Person("Anna"), Person("Ben")], ["anna", "ben"]),
        ([(Person("Anna"), Person("Ben"))], ["anna ben"]),
        ([(Person("Anna"), Person("Nobody"))], [""]),
        ([Person("", {"email": "Z@X.ORG"})], ["zoe von berg"]),
        *(([Person(name)], ["zoe von berg"]) for name in ("Zoe  von BERG", "von_berg_zoe", "bergzoevon", "zoevonbérg")),
        ([Person("Kim Lee", {"canvas": "66"})], ["kim lee"]),
        ([Person("Kim Lee")], [""]),
        ([Person("Kim Lee", {"login": "lee kim"}), canvas_("", "66")], ["lee kim", "kim lee"]),
        ([moodle_("Group 1.1", "501")], ["anna ben"]),
        ([moodle_("Group 1.1", "57")], ["anna ben"]),
        ([moodle_("Group 1-1", "501")], [""]),
        ([moodle_("C", "501"), moodle_("C++", "502"), moodle_("C#", "503")], ["josé roy", "jose roy", "eve"]),
        ([moodle_("Team A", "501")], [""]),
        ([Person("", {"github": "group-1-1"})], [""]),
        ([canvas_("group11", "55")], ["anna ben"]),
        ([canvas_("group11", "58")], ["cara dan"]),
        ([canvas_("group11", "99")], [""]),
        ([canvas_("eve", "63"), canvas_("eve", "99")], ["eve", ""]),
        ([canvas_("eve", "55")], [""]),
        ([Person("José Roy"), Person("Jose Roy")], ["josé roy", "jose roy"]),
        ([Person("Evé"), Person("Evè")], ["", ""]),
        ([moodle_("Eve", "99")], [""]),
        ([Person("x", {"moodle": "eve"}), Person("y", {"canvas": "61"})], ["", "josé roy"]),
    ],
)
def test_names_that_come_to_the_same_are_never_taken_for_each_other(roster, people, ids):
    """As it is spelled comes first, an id decides, and what is left is for a person, such as half a group."""
    assert owners(roster(GROUPS), *people) == ids


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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "1: no column with names or ids; expected id, name, email, …, not an empty line"),
        ("id,name\n", "no students in it"),
        ("id,name\n1,Anna\n1,Bob\n", "3: 1 is there twice; keep one line"),
        ('id,name\n1,"Anna\nSmith"\n1,Bob\n', "roster.csv:4: 1 is there twice"),  # as an editor counts lines
        ("name\nAsh, Anna\n", "2: 2 cells where the heading has 1; put cells with a comma in quotes"),
        ('id,name\n1,"Anna\n', "not valid CSV"),
        ("id,name\n1,Jörg\n", "not UTF-8"),
        ('id,name,sid\n1,Anna,2\n2,Bob,"1,3146E+17"\n', "3: 1,3146E+17 is rounded by a spreadsheet"),
    ],
)
def test_an_odd_roster_is_one_line(roster, text, reason):
    with pytest.raises(UserError) as caught:
        roster(text, "latin-1" if reason == "not UTF-8" else "utf-8")
    assert reason in str(caught.value) and "\n" not in str(caught.value)
