"""Marks for platforms: what students chose cannot do harm there, and no mark becomes another student's."""

import csv
import io
import os
import zipfile
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import Roll, write_roll
from autograder.classroom.grading import Results
from autograder.classroom.marks import Decision, decide, with_items
from autograder.platforms.platform import Student
from autograder.reports.exports import IMPORTING, harmless
from autograder.testing.results import ItemMark

from ..conftest import ASSIGNMENT, SEEDS, record_of

ODD = '=HYPERLINK("x") <b>& ../../a_b\u202e'


def enrol(marks: Path, *members: Student) -> None:
    """Lets these be the class, handed in through another platform."""
    about = {"assignment": ASSIGNMENT.name, "layout": "git", "folder": "class", "has_roster": True}
    write_roll(Roll(**about, members=members, left_out=()), marks)


@pytest.fixture
def marks(tmp_path) -> Path:
    """A folder as `grade-class` leaves it, with two submissions."""
    folder, members = tmp_path / "marks", []
    (folder / "students").mkdir(parents=True)
    files = {"Anna Smith": ("anna", "11", "smithanna_11_70_layers.py"), ODD: ("bob", "12", "bob_LATE_12_71_work.zip")}
    for name, (id_, number, file) in files.items():
        ids = {"canvas": number, "moodle": f"1{number}"}
        members.append(Student(id=id_, name=name, ids=ids, key=id_, entry=id_, file=file))
        Results(folder, SEEDS).keep(id_, record_of("x"))
        (folder / "students" / f"{id_}.html").write_text(f"page of {id_}")
    enrol(folder, *members)
    return folder


@pytest.fixture
def run(marks):
    return lambda *arguments: main(["export-marks", str(marks), "--for", *map(str, arguments)])


def rows(marks: Path, platform: str) -> list[list[str]]:
    text = (marks / "export" / f"{platform}.csv").read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def test_names_that_students_chose_stay_names(run, marks):
    for name in IMPORTING:
        run(name)
        assert not any(cell.startswith(("=", "+", "@")) for row in rows(marks, name) for cell in row)
    for path in (marks / "export").glob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            assert not any(part in name for name in archive.namelist() for part in ("..", "<", "/"))
            if path.name == "moodle-feedback.zip":  # a student's own underscores stay out of its parts
                ids = sorted(name.split("_")[1] for name in archive.namelist())
                assert ids == ["111", "112"] and all(name.count("_") == 4 for name in archive.namelist())
    assert rows(marks, "canvas")[3][0] == "'" + ODD.replace("\u202e", "\\u202e")
    first = {path.name: path.read_bytes() for path in (marks / "export").iterdir()}
    run("canvas")
    run("moodle")
    assert first == {path.name: path.read_bytes() for path in (marks / "export").iterdir()}, "the same marks, the same"


def test_pages_from_before_a_decision_are_named(run, marks, capsys):
    page = marks / "class.html"
    page.touch()
    run("canvas")
    assert "pages" not in capsys.readouterr().err
    decide(marks, Decision(student="anna", kind="points", value=50, text="an oral exam", by="x"))
    os.utime(page, (0, 0))
    run("canvas")
    assert "canvas-feedback.zip has pages from before the last decision; run grade-class" in capsys.readouterr().err


TITLE = ASSIGNMENT.title
CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section"
OTHER_COLUMNS = f"{CANVAS},Essay (1),hw 3: {TITLE} (771)\nAnna Smith,11,,,,,\n"
MOODLE = "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)\nParticipant 7,Jose Roy,,{points},-\n"
ANNA = Student(id="x", name="Anna Smith", key="anna", ids={"github": "anna-s"})
BOB = Student(id="bob", name="Bob Ray", key="bob", ids={"login": "bob"})
TWINS = [Student(id=id_, name="José Roy", key="anna", ids={"github": id_}) for id_ in ("a1", "a2")]
ELSEWHERE = {  # students of another platform, the roster, options; status, a message, a cell
    "its own ids and columns": (
        [ANNA],
        f'{CANVAS},Other (1),{TITLE} (77)\n    Points Possible,,,,,5,100\n"Smith, Anna",9911,s1,as,"A; B",5,\n',
        "canvas",
        (0, "", "A; B"),
    ),
    "a column that Canvas would make anew": (
        [ANNA],
        OTHER_COLUMNS,
        "canvas",
        (1, f"no column of the gradebook is {TITLE!r} and its number: name the one that is meant with --column", TITLE),
    ),
    "a column by its title, and a page that Canvas could not attach": (
        [ANNA],
        OTHER_COLUMNS,
        "canvas --column Essay",
        (0, "no feedback archive for canvas, which knows only its own download: Anna Smith (x)\n", "Essay (1)"),
    ),
    "more points than Moodle takes": (
        TWINS[:1],
        MOODLE.format(points="10.00"),
        "moodle",
        (0, "a mark is skipped; raise it, and export again: José Roy (a1)\n", "Participant 7"),
    ),
    "a student without an id there": (
        [ANNA],
        "",
        "moodle",
        (1, "not known to moodle; name its list of students with --roster: Anna Smith (x)\n", "Identifier"),
    ),
    "a login of elsewhere": (
        [ANNA, BOB],
        f'{CANVAS},{TITLE} (77)\n    Points Possible,,,,,100\n"Smith, Anna",9,,,,\n',
        "canvas",
        (1, "no student in the roster, or more than one, has these ids or names, so enter", "Smith, Anna"),
    ),
    "two of the same name": (
        TWINS,
        MOODLE.format(points="100.00"),
        "moodle",
        (1, "so enter these marks by hand: José Roy (a1), José Roy (a2)\n", "Identifier"),
    ),
}


@pytest.mark.parametrize(("students", "roster", "options", "expected"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_marks_of_submissions_from_elsewhere(tmp_path, marks, run, capsys, students, roster, options, expected):
    """A roster of the platform brings ids and columns; students are found by e-mail address or name, or are named."""
    enrol(marks, *students)
    (tmp_path / "roster.csv").write_text(roster)
    more = ["--roster", tmp_path / "roster.csv"] if roster else []
    status, message, cell = expected
    assert run(*options.split(), *more) == status
    assert message in capsys.readouterr().err
    assert any(cell in row for row in rows(marks, options.split()[0]))
    assert (marks / "export" / f"{options[:6]}-feedback.zip").exists() == (options == "moodle" and not status)


def test_an_item_that_is_given_brings_those_that_are_worth_nothing_without_it():
    items = (ItemMark("values", 0.0, 3.0, 1), ItemMark("table", 0.0, 1.0, 0, "values"))
    part = record_of("x").judgement.parts[0].changed(items=items)
    assert (with_items(part, ["table"]), with_items(part, ["values"])) == (1, 4)


@pytest.mark.parametrize("file, words", [("class.json", "not as `grade-class` of this"), ("decisions.jsonl", "line 1")])
def test_a_damaged_folder_of_marks_is_one_line(marks, run, capsys, file, words):
    (marks / file).write_text("{}\n")
    assert run("moodle") == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and file in printed and words in printed


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\uff1d1+1"])
def test_a_name_is_not_a_formula(text):
    assert harmless(text) == f"'{text}"
    for separator in (";", ",", "\t", "|", "\n", '"', "; ", '";"', "\r\n "):
        cell = harmless(f"anna{separator}{text}")
        assert cell == f"anna{separator}'{text}", "whatever a spreadsheet takes for the end of a cell"
    assert harmless("jean-luc o'neill a=b, c-d") == "jean-luc o'neill a=b, c-d" and harmless(1.5) == 1.5
