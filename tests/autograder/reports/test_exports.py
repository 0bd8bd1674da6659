"""Marks for platforms: what students chose cannot do harm there, and no mark becomes another student's."""

import csv
import io
import os
import zipfile
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import ROLL, Roll
from autograder.classroom.grading import Results
from autograder.classroom.marks import Decision, decide, with_items
from autograder.platforms.platform import Student
from autograder.reports.exports import IMPORTING, harmless
from autograder.testing.results import ItemMark

from ..conftest import ASSIGNMENT, SEEDS, examples_in, record_of

ODD = '=HYPERLINK("x") <b>& ../../a_b\u202e'


def enrol(marks: Path, *members: Student) -> None:
    """Lets these be the class, handed in through another platform."""
    about = {"assignment": ASSIGNMENT.name, "layout": "git", "folder": "class", "has_roster": True}
    (marks / ROLL).write_text(Roll(**about, members=members, left_out=()).model_dump_json())


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


def test_after_an_interrupted_run_what_is_missing_is_not_graded_yet(run, marks, capsys):
    (marks / "students" / "anna.html").unlink()
    (marks / "records" / "bob.json").unlink()
    run("moodle")
    printed = capsys.readouterr().err
    assert "(not graded yet)" in printed and "which knows only" not in printed
    assert "not graded to the end, so that there is no page; run grade-class, and export again: Anna Smith" in printed


ELSEWHERE = examples_in("reports/elsewhere.toml")


@pytest.mark.parametrize("case", ELSEWHERE)
def test_marks_of_submissions_from_elsewhere(tmp_path, marks, run, capsys, case):
    """A roster of the platform brings ids and columns; students are found by e-mail address or name, or are named."""
    students, roster, options, status, message, cell = ELSEWHERE[case].values()
    enrol(marks, *(Student(**student) for student in students))
    (tmp_path / "roster.csv").write_text(roster)
    more = ["--roster", tmp_path / "roster.csv"] if roster else []
    assert run(*options.split(), *more) == status
    assert message in capsys.readouterr().err
    assert any(cell in row for row in rows(marks, options.split()[0]))
    assert (marks / "export" / f"{options[:6]}-feedback.zip").exists() == cell.startswith("Participant")


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
