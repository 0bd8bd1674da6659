"""Rosters as each platform exports them, and who has handed in what."""

from pathlib import Path

import pytest

from autograder.classroom.roster import hint_for, owners_of, read_roster
from autograder.platforms.platform import HandedIn, Person
from foundation.command_line import UserError

GITHUB = '"identifier","github_username","github_id","name"\n"u007","anna-s","1","Anna Smith"\n"u008","","",""\n'
NBGRADER = "id,first_name,last_name,email\nasmith,Anna,Smith,anna@uni.example\nbunal,Bob,Ünal,\n"
CLASSROOM50 = (
    "username,first_name,last_name,email,section,github_id\n"
    "Anna-S,Anna,Smith,anna@uni.example,1,11\nbob,Bob,Ünal,,1,12\n"
)
PLAIN = "id;name;e-mail\nu007;Anna Smith;anna@uni.example\nu008;Bob Ünal;\n"


@pytest.fixture
def roster(tmp_path):
    def write(text, encoding="utf-8"):
        path = tmp_path / "roster.csv"
        path.write_text(text, encoding=encoding)
        return read_roster(path)

    return write


def handed_in(*people, entry="entry"):
    return HandedIn(entry, Path(entry), people, entry)


ROSTERS = {  # beside those of `platforms/test_round_trip.py`: Anna's ids, and people of a download who are her
    GITHUB: ({"login": "u007", "github": "anna-s"}, [Person("", {"github": "Anna-S"})]),
    GITHUB.replace("u007", "anna@uni.example"): ({}, [Person("", {"email": "Anna@uni.example"})]),
    CLASSROOM50: ({"github": "Anna-S", "login": "Anna-S"}, [Person("", {"github": "anna-s"})]),
    NBGRADER: ({"login": "asmith", "email": "anna@uni.example"}, [Person("", {"login": "asmith"})]),
    PLAIN: (
        {"login": "u007", "email": "anna@uni.example"},
        [
            Person("u007", {"login": "u007"}),
            Person("smith_anna", {"login": "smith_anna"}),
            *(Person(name) for name in ("Anna  SMITH", "smithanna", "smithánna")),
        ],
    ),
}


@pytest.mark.parametrize("text", ROSTERS, ids=range(len(ROSTERS)))
def test_a_person_is_found_in_each_kind_of_roster(roster, text):
    ids, people = ROSTERS[text]
    anna, bob = roster(text, encoding="utf-8-sig")
    assert anna.name == "Anna Smith" and ids.items() <= dict(anna.ids).items()
    for person in people:
        submission = handed_in(person)
        assert owners_of([submission], [anna, bob]) == {submission: (anna,)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("id,name\n1,Robert Tables\n", "Robert Tables"),
        ('id,name\n1,"Tables, Robert"\n', "Robert Tables"),
        ("First Name,Last Name,Role\nRobert,Tables,\nC,D,Instructor\nE,F,TA\n", "Robert Tables"),
        ("id;name;Essay, draft, notes, and sources\n7;Robert Tables;5\n", "Robert Tables"),
        ('id\tname\t"a;b;c;d,e,f,g"\n7\tRobert Tables\t\n', "Robert Tables"),
        ('LastName,FirstName,ID,SIS User ID,SIS Login ID\n"Tables, Jr.",Robert,1,u1,rt\n', "Robert Tables, Jr."),
    ],
)
def test_a_line_is_a_student_whose_first_name_comes_first(roster, text, name):
    (student,) = roster(text)
    assert student.name == name
    canvas = handed_in(Person("tablesjrrobert" if "Jr" in name else "tablesrobert"))
    assert owners_of([canvas], [student]) == {canvas: (student,)}


GROUPS = "id,name,canvas id,participant,group\n" + "".join(
    f"{name.lower()},{name},{id_},{group}\n"
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
    ]
)


def canvas_(name, id_):
    return Person(name, {"canvas": id_}, is_plain=True)


def moodle_(name, id_):
    return Person(name, {"moodle": id_})


@pytest.mark.parametrize(
    ("people", "owners"),
    [
        ([Person("Anna")], ["anna ben"]),
        ([canvas_("anna", "55")], ["anna ben"]),
        ([Person("", {"login": "ben"}), Person("Cara")], ["ben anna", "cara dan"]),
        ([Person("Anna"), Person("Ben")], ["anna", "ben"]),
        ([Person("Kim Lee", {"canvas": "66"})], ["kim lee"]),
    ],
)
def test_a_group_shares_what_one_of_its_members_handed_in(roster, people, owners):
    """But what a member handed in alone stays that member's."""
    submissions = [handed_in(person) for person in people]
    owned = owners_of(submissions, roster(GROUPS))
    assert [" ".join(student.id for student in owned[submission]) for submission in submissions] == owners


HANDLES = "id,name,handle\nu1,Anna Smith,anna-s\nu2,Bob Ray,bob\n"


@pytest.mark.parametrize(
    ("text", "people", "words"),
    [
        (HANDLES, [Person("", {"github": "anna-s"})], "its column 'handle' has 1 of 1 name: call it 'github_username'"),
        (HANDLES, [Person("Bob Ray", {"canvas": "7"})], ""),
        (HANDLES, [Person("Zoe")], "none of its columns has anybody of entry: is it this class's roster?"),
    ],
)
def test_a_roster_that_fits_nobody_says_which_column_would(roster, text, people, words):
    hint = hint_for([handed_in(*people)], roster(text))
    assert words in hint and bool(words) == bool(hint)


@pytest.mark.parametrize(
    ("people", "owners"),
    [
        ([(Person("Anna"), Person("Ben"))], ["anna ben"]),
        ([(Person("Anna"), Person("Zoe"))], [""]),
        ([Person("Kim Lee")], [""]),
        ([Person("Kim Lee", {"login": "lee kim"}), canvas_("", "66")], ["lee kim", "kim lee"]),
        ([Person("Group 1.1")], ["anna ben"]),
        ([moodle_("Group 1.1", "501")], ["anna ben"]),
        ([moodle_("Group 11", "501")], ["cara dan"]),
        ([moodle_("Group 1.1", "57")], ["anna ben"]),
        ([moodle_("Group 1-1", "501")], [""]),
        ([moodle_("C", "501"), moodle_("C++", "502"), moodle_("C#", "503")], ["josé roy", "jose roy", "eve"]),
        ([moodle_("Team A", "501")], [""]),
        ([canvas_("group11", "55")], ["anna ben"]),
        ([canvas_("group11", "58")], ["cara dan"]),
        ([canvas_("group11", "99")], [""]),
        ([canvas_("group11", "63")], [""]),
        ([canvas_("eve", "63"), canvas_("eve", "99")], ["eve", ""]),
        ([canvas_("eve", "55")], [""]),
        ([moodle_("José Roy", "61"), moodle_("Jose Roy", "62")], ["josé roy", "jose roy"]),
        ([Person("José Roy"), Person("Jose Roy")], ["josé roy", "jose roy"]),
        ([Person("Jośe Roy")], [""]),
        ([Person("Evé")], ["eve"]),
        ([Person("Evé"), Person("Evè")], ["", ""]),
        ([moodle_("Eve", "99")], [""]),
        ([Person("x", {"moodle": "eve"}), Person("y", {"canvas": "61"})], ["", "josé roy"]),
        ([Person("x", {"login": "Eve"}), Person("y", {"login": "eve"})], ["eve", "eve"]),
    ],
)
def test_names_that_come_to_the_same_are_never_taken_for_each_other(roster, people, owners):
    """As it is spelled comes first, an id decides, and what is left is for a person, such as half a group."""
    students = roster(GROUPS)
    submissions = [handed_in(*(who if isinstance(who, tuple) else [who])) for who in people]
    owned = owners_of(submissions, students)
    assert [" ".join(student.id for student in owned[submission]) for submission in submissions] == owners


def test_without_a_roster_students_are_those_whom_the_download_names():
    anna, again = (
        handed_in(Person("Anna", {"number": "7"}), entry="a"),
        handed_in(Person("Anna S.", {"number": "7"}), entry="b"),
    )
    bob, nobody = handed_in(Person("Anna"), entry="c"), handed_in(entry="d")
    owned = owners_of([anna, again, bob, nobody])
    assert [(own.id, own.name) for [own] in owned.values()] == [("7", "Anna")] * 2 + [("Anna", "Anna"), ("d", "d")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "1: no column with names or ids; expected id, name, email, …, not an empty line"),
        ("a,b\n1,2\n", "1: no column with names or ids; expected id, name, email, …, not a, b"),
        ("id,name\n", "no students in it"),
        ("id,name\n1,Anna\n1,Bob\n", "3: 1 is there twice; keep one line"),
        ("name\nAsh, Anna\n", "2: 2 cells where the heading has 1; put cells with a comma in quotes"),
        ('id,name\n1,"Anna\n', "not valid CSV"),
        (PLAIN, "not UTF-8"),
        ("id,name\n1.3146E+17,Anna\n", "2: 1.3146E+17 is rounded by a spreadsheet; export the roster again"),
        ('id,name,sid\n1,Anna,2\n2,Bob,"1,3146E+17"\n', "3: 1,3146E+17 is rounded by a spreadsheet"),
    ],
)
def test_an_odd_roster_is_one_line(roster, text, reason):
    with pytest.raises(UserError) as caught:
        roster(text, encoding="latin-1" if reason == "not UTF-8" else "utf-8")
    assert reason in str(caught.value) and "\n" not in str(caught.value)
