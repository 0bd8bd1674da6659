"""Marks for platforms: what students chose cannot do harm there, and who has no score gets none."""

import csv
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.classroom.entries import Member, Roll, write_roll
from autograder.classroom.records import Decision, Results, decide
from autograder.grading.record import Record, new_record
from autograder.grading.seeds import Seeds
from autograder.reports.exports import IMPORTING
from autograder.testing.results import ItemMark, State
from foundation.assignment_file import read_assignment

from ..submissions import changed_assignment, judged

ASSIGNMENT = read_assignment()
SEEDS = Seeds(b"the secret of the kit's own tests")  # of `fixed_secret`
pytestmark = pytest.mark.usefixtures("fixed_secret")
ODD = '=HYPERLINK("x") <b>& ../../a_b\u202e'


def record(state: State = State.PASSED) -> Record:
    first, *others = judged({"1.1": state})
    lost = (ItemMark("values", 0.0, 3.0, 1), ItemMark("table", 0.0, 1.0, 0, "values"))
    first = replace(first, items=lost if state is State.FAILED else ())
    return new_record("x", ASSIGNMENT, "0123456789abcdef").judged([first, *others]).finished()


def member(key: str, name: str, state: State | None = State.PASSED, **more: object) -> tuple[Member, Record | None]:
    handed_in = {"key": key, "entry": key} if state else {}
    return Member(id=key, name=name, **handed_in, **more), record(state) if state else None


CLASS = (
    member("anna", "Anna Smith", ids={"canvas": "11", "moodle": "101"}, file="smithanna_11_70_layers.py"),
    member("bob", ODD, State.FAILED, ids={"canvas": "12", "moodle": "102"}, file="bob_LATE_12_71_work.zip"),
    member("carl", "Carl", State.GRADER_ERROR, ids={"canvas": "13", "moodle": "103"}, file="carl_13_72_x.py"),
    member("dora", "Dora", None, ids={"canvas": "14", "moodle": "104"}),
)


@pytest.fixture
def marks(tmp_path) -> Path:
    """A folder as `grade-class` leaves it."""
    members = tuple(one for one, _ in CLASS)
    enrol(tmp_path / "marks", *members)
    (tmp_path / "marks" / "students").mkdir()
    results = Results(tmp_path / "marks", SEEDS)
    for one, found in CLASS:
        if found:
            results.keep(one.key, found)
            (tmp_path / "marks" / "students" / f"{one.key}.html").write_text(f"page of {one.key}")
    return tmp_path / "marks"


@pytest.fixture
def run(marks):
    def export_marks(*arguments: object) -> int:
        return main(["export-marks", str(marks), "--for", *map(str, arguments)])

    return export_marks


def enrol(marks: Path, *members: Member) -> None:
    """Lets these be the class, handed in through another platform."""
    about = {"assignment": ASSIGNMENT.name, "layout": "git", "folder": "class", "has_roster": True}
    write_roll(Roll(**about, members=members, left_out=()), marks)


ANNA = Member(id="x", name="Anna Smith", key="anna", ids={"github": "anna-s"})


def rows(marks: Path, platform: str) -> list[list[str]]:
    text = (marks / "export" / f"{platform}.csv").read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def feedback(marks: Path, platform: str) -> dict[str, str]:
    with zipfile.ZipFile(marks / "export" / f"{platform}-feedback.zip") as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_names_that_students_chose_stay_names(run, marks):
    for name in IMPORTING:
        run(name)
        assert not any(cell.startswith(("=", "+", "@")) for row in rows(marks, name) for cell in row)
        names = feedback(marks, name) if name != "blackboard" else []
        assert not any(".." in one or "/" in one or "<" in one for one in names)
    assert rows(marks, "canvas")[3][0] == "'" + ODD.replace("\u202e", "\\u202e")
    moodle = {name.split("_")[1]: (name.split("_")[2:4], text) for name, text in feedback(marks, "moodle").items()}
    assert moodle == {
        "101": (["assignfeedback", "file"], "page of anna"),
        "102": (["assignfeedback", "file"], "page of bob"),
    }
    assert [*feedback(marks, "canvas")] == ["bob_LATE_12_71_feedback.html", "smithanna_11_70_feedback.html"]
    first = {path.name: path.read_bytes() for path in (marks / "export").iterdir()}
    run("canvas")
    run("moodle")
    assert first == {path.name: path.read_bytes() for path in (marks / "export").iterdir()}, "the same marks, the same"


def test_a_platforms_list_of_students_brings_ids_and_its_own_columns(tmp_path, marks, run):
    """Marks of submissions that came from elsewhere: students are found by e-mail address or name."""
    (tmp_path / "roster.csv").write_text(
        f"Student,ID,SIS User ID,SIS Login ID,Section,Other (1),{ASSIGNMENT.title} (77)\n"
        '    Points Possible,,,,,5,100\n"Smith, Anna",9911,s1,as,"A; B",5,\n'
    )
    enrol(marks, ANNA)
    assert run("canvas", "--roster", tmp_path / "roster.csv") == 0
    table = rows(marks, "canvas")
    assert table[0][-1] == f"{ASSIGNMENT.title} (77)" and table[2] == ["Smith, Anna", "9911", "s1", "as", "A; B", "100"]


def test_a_column_of_canvas_that_is_not_known_is_asked_for(tmp_path, marks, run, capsys):
    """Canvas would make a new assignment of it."""
    title = ASSIGNMENT.title
    (tmp_path / "roster.csv").write_text(
        f"Student,ID,SIS User ID,SIS Login ID,Section,Essay (1),hw 3: {title} (771)\nAnna Smith,11,,,,,\nB,12,,,,,\n"
    )
    assert run("canvas", "--roster", tmp_path / "roster.csv") == 1
    words = f"no column of the gradebook is {title!r} and its number: name the one that is meant with --column: "
    assert f"{words}'hw 3: {title} (" in capsys.readouterr().err and rows(marks, "canvas")[0][-1] == title
    assert run("canvas", "--roster", tmp_path / "roster.csv", "--column", "Essay (2)") == 1
    assert run("canvas", "--roster", tmp_path / "roster.csv", "--column", "Essay") == 0
    assert rows(marks, "canvas")[0][-1] == "Essay (1)"


IN_CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,{title} (77)
    Points Possible,,,,,{points}
"Smith, Anna",9,,,,
"""
IN_MOODLE = """\
Identifier,Full name,Grade,Maximum Grade,Last modified (grade)
Participant 7,Anna Smith,,{points},-
"""


def test_a_mark_above_the_maximum_which_moodle_would_skip_is_named(marks, run, tmp_path, capsys):
    changes = 'title = "An ablation"\npoints = 0', 'title = "An ablation"\npoints = 5'
    changed_assignment(tmp_path / "assignment.toml", changes)
    decide(marks, Decision(student="anna", kind="points", task="E.5", value=5, text="good", by="tina"))
    assert run("moodle", "--assignment", tmp_path / "assignment.toml") == 0
    [said] = [line for line in capsys.readouterr().err.splitlines() if "skipped" in line]
    assert said.startswith("note: moodle: above the assignment's maximum") and said.endswith(": Anna Smith (anna)")
    (tmp_path / "roster.csv").write_text(IN_MOODLE.format(points="10.00"))
    enrol(marks, ANNA)
    assert run("moodle", "--roster", tmp_path / "roster.csv") == 0
    assert "a mark is skipped; raise it, and export again: Anna Smith (x)" in capsys.readouterr().err


def test_students_whom_a_platform_cannot_find_are_named(tmp_path, marks, run, capsys):
    enrol(marks, ANNA)
    assert run("canvas") == run("moodle") == 1
    printed = capsys.readouterr().err
    assert "not known to moodle; name its list of students with --roster: Anna Smith (x)" in printed
    assert "no feedback file for canvas, which knows only its own download: Anna Smith (x)" in printed
    assert len(rows(marks, "moodle")) == 1
    enrol(marks, ANNA, Member(id="bob", name="Bob Ray", key="bob", ids={"login": "bob"}))
    (tmp_path / "roster.csv").write_text(IN_CANVAS.format(title=ASSIGNMENT.title, points="100.00"))
    assert run("canvas", "--roster", tmp_path / "roster.csv") == 1
    printed = capsys.readouterr().err.split("no feedback")[0]
    assert "not known to canvas; no student in the roster" in printed
    assert "Bob Ray (bob)" in printed and "Anna" not in printed
    assert [row[0] for row in rows(marks, "canvas")[2:]] == ["Smith, Anna"], "a login is elsewhere's"


def test_two_students_of_one_name_are_not_mixed_up(tmp_path, marks, run, capsys):
    """Where only names connect two platforms, neither gets a mark, and both are named with their ids."""
    enrol(marks, *(Member(id=id_, name="José Roy", key="anna", ids={"github": id_}) for id_ in ("a1", "a2")))
    (tmp_path / "worksheet.csv").write_text(IN_MOODLE.format(points="100.00").replace("Anna Smith", "Jose Roy"))
    assert run("moodle", "--roster", tmp_path / "worksheet.csv") == 1
    assert "so enter these marks by hand: José Roy (a1), José Roy (a2)\n" in capsys.readouterr().err
    assert not [row for row in rows(marks, "moodle")[1:] if row[2]]


def test_points_by_hand_and_late_days_are_exported(marks, run, tmp_path):
    changed_assignment(tmp_path / "assignment.toml", late="due = 2026-01-01T00:00:00Z")
    for student, kind, task, value, text in (
        ("anna", "points", "1.2", 4.0, "a slip"),
        ("anna", "late", "", 1, "by e-mail"),
        ("anna", "comment", "1.4", None, "A neat\nsolution."),
        ("carl", "points", "1.1", 1.0, "the grader failed"),
    ):
        decide(marks, Decision(student=student, kind=kind, task=task, value=value, text=text, by="tina"))
    assert run("moodle", "--assignment", tmp_path / "assignment.toml") == 0
    _, anna, _, carl, _ = rows(marks, "moodle")
    assert (float(anna[2]), float(carl[2])) == (81, 97)
    comment = anna[-1]
    assert comment.startswith("10% off for 1 late day; 1.2 Scaled dot-product attention: 4 of 14 (by hand: a slip); ")
    assert "1.4 Layer normalisation: A neat solution." in comment


def test_an_item_of_the_rubric_is_given_by_hand(marks, run, capsys):
    def override(item: str) -> int:
        words = f"override bob --task 1.1 --item {item} --why slip --by tina --output".split()
        return main([*words, str(marks)])

    assert override("table") == 0 and "1 point by hand" in capsys.readouterr().out
    assert override("values") == 0, "the table was worth nothing only for want of them"
    assert run("moodle") == 0 and rows(marks, "moodle")[2][2] == "100"
    assert "by hand: “table”, “values” given: slip" in rows(marks, "moodle")[2][-1]
    assert override("valeus") == 2
    assert "--item valeus: task 1.1 has no such item: expected values, table\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("class.json", None, "class.json: No such file or directory; expected the folder"),
        ("class.json", "{}", "class.json: not as `grade-class` of this"),
        ("decisions.jsonl", "{}\n", "decisions.jsonl, line 1: no decision"),
    ],
)
def test_what_is_no_folder_of_marks_is_one_line(marks, run, capsys, file, content, words):
    (marks / file).unlink(missing_ok=True)
    if content:
        (marks / file).write_text(content)
    assert run("moodle") == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1 and words in printed


def test_all_tasks_by_hand_are_one_sentence_and_tasks_without_points_none(marks, run):
    words = ["override", "anna", "--task", "all", "--points", "0", "--why", "copied", "--by", "tina", "--output"]
    assert main([*words, str(marks)]) == 0 and run("moodle") == 0
    assert rows(marks, "moodle")[1][-1] == "all tasks by hand: copied"
    for task in ("1.1", "E.5"):
        decide(marks, Decision(student="bob", kind="points", task=task, value=0, text="no", by="tina"))
    run("moodle")
    assert rows(marks, "moodle")[2][-1] == "1.1 Input embedding: 0 of 4 (by hand: no)"
