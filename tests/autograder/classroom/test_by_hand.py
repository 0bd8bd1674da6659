"""`override`, `comment` and `late`: what people decide counts, is shown, and survives."""

import html
import json
import re
import shutil

import pytest

from autograder.__main__ import main
from autograder.classroom.grading import grade_class
from autograder.commands import classes
from autograder.own_work.sheets import Seat, write_key
from foundation.assignment_file import read_assignment

from ..submissions import changed_assignment, rows_of
from .conftest import StubGrader, two_tests

LATE = "due = 2026-01-01T00:00:00Z\npercent_per_day = 10\nmost_percent = 50"
WITH_POINTS = ("points = 0\nby_hand = true", "points = 8\nby_hand = true")


@pytest.fixture
def assignment(tmp_path):
    return changed_assignment(tmp_path / "assignment.toml", WITH_POINTS, late=LATE)


@pytest.fixture
def grade(folder, output, log, assignment):
    """Grades the class; the row of a student."""
    roster = folder.with_name("roster.csv")

    def grade(student: str = "anna", **flags: bool) -> dict[str, object]:
        options = ["--output", str(output), "--assignment", str(assignment), *(f"--{name}" for name in flags)]
        options += ["--roster", str(roster)] if roster.exists() else []
        assert main(["grade-class", str(folder), *options]) in (0, 1)
        row = next(row for row in rows_of(output / "summary.csv") if row["id"] == student)
        return {name: float(cell) if re.fullmatch(r"[\d.]+", cell) else cell or None for name, cell in row.items()}

    grade.roster = roster
    return grade


@pytest.fixture
def decide(output, assignment):
    def decide(*arguments: str) -> int:
        return main([*arguments, "--output", str(output), "--assignment", str(assignment), "--by", "tina"])

    return decide


def page(output, student: str = "anna") -> str:
    text = (output / "students" / f"{student}.html").read_text()
    plain = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", plain)).split())


def test_what_cannot_be_graded_may_be_worth_nothing(grade, decide, folder, output, capsys):
    (folder / "dan.zip").write_bytes(b"no archive")
    row = grade("dan")
    assert (row["score"], row["status"]) == (None, "needs review")
    assert decide("override", "dan", "--task", "all", "--points", "0", "--why", "sent nothing else in time") == 0
    assert f"each of {len(read_assignment().tasks)} tasks: 0 points by hand" in capsys.readouterr().out
    row = grade("dan")
    assert (row["score"], row["status"]) == (0, "graded")
    assert row["by_hand"].count("sent nothing else") == 1 and row["by_hand"].startswith("1.1, 1.2, 1.3, ")
    assert "not graded: dan" not in capsys.readouterr().out, "that is decided"
    assert "1.1 Input embedding: by hand 0 of 4 points" in page(output, "dan.zip")
    assert decide("override", "dan", "--task", "all", "--withdraw", "--why", "it came") == 0
    assert grade("dan")["score"] is None


def test_points_by_hand_count_and_are_shown(grade, decide, output, log, capsys):
    grade()
    log()
    assert decide("override", "Anna", "--task", "1.3", "--points", "4.5", "--why", "a <b>slip</b>") == 0
    assert "anna: 1.3 Multi-headed attention: 4.5 points by hand; run grade-class" in capsys.readouterr().out
    row = grade()
    assert (row["score"], row["1.3"], row["1.3 state"]) == (90.5, 4.5, "passed") and log() == []
    assert re.fullmatch(r"1\.3: 4\.5 points by tina, \d{4}-\d\d-\d\d: a <b>slip</b>", row["by_hand"])
    text = page(output)
    assert "90.5 of 100 points" in text and "4.5 points by hand: a <b>slip</b>" in text
    assert "90.5" in (output / "class.html").read_text() and "4.5*" in (output / "class.html").read_text()
    assert [row["score"] for row in rows_of(output / "summary.csv")] == ["90.5", "100.0", "100.0"]
    record = json.loads((output / "records" / "anna.json").read_text())
    assert record["judgement"]["score"] == 100, "the record has what was graded"
    assert decide("override", "anna", "--task", "1.3", "--withdraw", "--why", "no slip") == 0
    assert grade()["score"] == 100


def test_comments_are_shown_where_they_belong(grade, decide, output, capsys):
    grade()
    assert decide("comment", "anna", "Come and see me.") == decide("comment", "anna", "Neat!", "--task", "1.4") == 0
    assert "anna: comment on the whole noted" in capsys.readouterr().out
    assert grade()["comments"] == "Come and see me.; 1.4: Neat!"
    text = page(output)
    assert text.index("Come and see me.") < text.index("Tasks") < text.index("Neat!")
    assert decide("comment", "anna", "--task", "1.4", "") == 0 and grade()["comments"] == "Come and see me."


def test_a_sitting_gives_points(grade, output, assignment, tmp_path, capsys):
    assert grade()["score"] == 100
    seats = [Seat(1, "anna", "Anna", "ABCD", ("shape",) * 4), Seat(2, "bob", "Bob", "ABCD", ("shape",) * 4)]
    (tmp_path / "oral" / "sitting-noon").mkdir(parents=True)
    write_key(seats, tmp_path / "oral" / "sitting-noon")
    (tmp_path / "answers.csv").write_text("seat,name,answers\n1,Anna,ABCA\n2,Bob,A---\n")
    arguments = ["--sitting", "noon", "--scan", str(tmp_path / "answers.csv"), "--output", str(tmp_path / "oral")]
    of_class = ["--marks", str(output), "--assignment", str(assignment)]
    assert main(["ask", *arguments, "--task", "E.5", *of_class]) == 0
    printed = capsys.readouterr().out
    assert "1  Anna  3 of 4\n" in printed and "2  Bob   1 of 4; talk to this student" in printed
    assert "points of task E.5 for 2 students" in printed
    row = grade()
    assert (row["score"], row["E.5"]) == (106, 6) and grade("bob")["E.5"] == 2
    assert main(["ask", *arguments, "--task", "1.3", *of_class]) == 2
    assert "--task 1.3: it has points without a sitting" in capsys.readouterr().err
    assert main(["ask", *arguments, "--task", "1.33", *of_class]) == 2
    assert "no such task; there are 1.1, " in capsys.readouterr().err


def test_late_days_cost_as_many_as_are_entered(grade, decide, output):
    assert decide("late", "anna", "--days", "2", "--why", "by e-mail") == 2, "nobody has been graded yet"
    grade()
    assert decide("late", "anna", "--days", "2", "--why", "by e-mail") == 0
    row = grade()
    assert (row["score"], row["late_days"], row["percent_off"]) == (80, 2, 20)
    assert "2 days late: 20% of the 100 points earned is taken off." in page(output) and "by e-mail" in page(output)
    assert decide("late", "anna", "--withdraw", "--why", "never mind") == 0 and grade()["score"] == 100


MISTAKES = (
    ("override ana --task 1.3 --points 4", "ana: no student of the class is called so"),
    ("override anna --task 1.33 --points 4", "--task 1.33: no such task; there are 1.1, "),
    ("override anna --task 1.3 --points 40", "--points 40: expected 0 to 14"),
    ("override anna --task 1.3 --points nan", "--points nan: expected 0 to 14"),
    ("override anna --task 1.3 --points -1", "--points -1: expected 0 to 14"),
    ("override anna --task all --points 4", "expected 0 to"),
    ("override anna --task all --item values", "--item needs a task: name it with --task"),
)


def test_mistakes_are_one_line_and_change_nothing(grade, decide, tmp_path, capsys):
    before = grade()
    for words, message in MISTAKES:
        capsys.readouterr()
        assert decide(*words.split(), "--why", "because") == 2
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1 and message in printed
    assert grade() == before
    assert main(["comment", "anna", "hello", "--output", str(tmp_path / "mraks")]) == 2
    assert "mraks/class.json: No such file or directory; expected the folder that" in capsys.readouterr().err
    assert not (tmp_path / "mraks").exists()


def test_decisions_for_somebody_who_is_gone_are_noted(grade, decide, folder, capsys):
    grade()
    decide("comment", "bob", "hello")
    shutil.rmtree(folder / "bob")
    grade()
    assert "note: decisions by hand for students who are not in this class: bob" in capsys.readouterr().err


ROSTER = "id,name\nanna,Anna\nbob,Bob\ncarl,Carl\ndora,Dora\neve,Eve\n"


def test_everybody_on_the_roster_can_be_excused_or_marked(grade, decide, output, tmp_path, capsys):
    """Also those who handed in nothing: Canvas gets EX, or the oral mark."""
    grade.roster.write_text(ROSTER)
    assert grade("dora")["status"] == "nothing handed in"
    assert decide("override", "dora", "--task", "whole", "--points", "71.5", "--why", "an oral exam") == 0
    assert "dora): the whole: 71.5 points by hand" in capsys.readouterr().out
    assert decide("override", "eve", "--excused", "--why", "ill") == 0
    assert decide("override", "anna", "--excused", "--why", "ill") == 0
    assert decide("override", "bob", "--task", "whole", "--points", "50", "--why", "half is his") == 0
    rows = {name: grade(name) for name in ("anna", "bob", "dora", "eve")}
    shown = {name: (row["score"], row["status"]) for name, row in rows.items()}
    assert shown == {
        "anna": (None, "excused"),
        "bob": (50, "graded"),
        "dora": (71.5, "graded"),
        "eve": (None, "excused"),
    }
    assert "excused by tina" in rows["eve"]["by_hand"] and "71.5 points for the whole" in rows["dora"]["by_hand"]
    printed = capsys.readouterr().out
    assert "excused: Anna, Eve\n" in printed and "marked by hand, without a submission: Dora\n" in printed
    assert "Dora: 71.5 points; Eve: excused" in page(output, "../class")
    roster = tmp_path / "canvas.csv"
    roster.write_text("Student,ID,SIS Login ID\nAnna,1,anna\nBob,2,bob\nCarl,3,carl\nDora,4,dora\nEve,5,eve\n")
    assert main(["export-marks", str(output), "--for", "canvas", "--roster", str(roster)]) == 0
    exported = rows_of(output / "export" / "canvas.csv")[1:]
    assert [row[read_assignment().title] for row in exported] == ["EX", "50", "100", "71.5", "EX"]
    for name in ("anna", "bob", "dora", "eve"):
        assert decide("override", name, "--task", "whole", "--withdraw", "--why", "back") == 0
    assert [grade(name)["score"] for name in ("anna", "bob", "dora", "eve")] == [100, 100, None, None]
    for words in (["--points", "4"], ["--task", "whole", "--points", "400"], ["--task", "whole", "--item", "x"]):
        assert decide("override", "eve", *words, "--why", "x") == 2


def test_decisions_can_be_entered_during_the_first_grading(folder, output, log, decide, assignment, monkeypatch):
    def judge(*arguments):
        assert decide("override", "anna", "--task", "1.3", "--points", "4", "--why", "x") == 0
        assert decide("late", "bob", "--days", "1", "--why", "x") == decide("comment", "bob", "Hello.") == 0
        return grade_class(*arguments)

    monkeypatch.setattr(classes, "grade_class", judge)
    assert main(["grade-class", str(folder), "--output", str(output), "--assignment", str(assignment)]) == 0
    assert [row["score"] for row in rows_of(output / "summary.csv")] == ["90.0", "90.0", "100.0"]


class Half(StubGrader):
    """One item of attention is lost, and with two versions of the tests another one."""

    def parts(self, intake):
        yield two_tests("1.4" if (self.log.parent / "second").exists() else "1.2")


def test_what_was_to_help_never_costs_points(grade, decide, use, output, tmp_path, assignment, capsys):
    """An item that is earned changes nothing; one that is given weighs like the item; points are never less."""
    use(Half)
    first, second = (item.name for item in read_assignment().tasks[1].items[:2])
    assert grade()["1.2"] == 8
    assert decide("override", "anna", "--task", "1.2", "--item", first, "--why", "x") == 0
    assert "earned already, so nothing changes" in capsys.readouterr().out and not (output / "decisions.jsonl").exists()
    assert decide("override", "anna", "--task", "1.2", "--item", second, "--why", "x") == 0 and grade()["1.2"] == 14
    text = assignment.read_text()
    assignment.write_text(text.replace("points = 14", "points = 28"))
    grade(keep=True)
    assert grade()["1.2"] == 28
    assignment.write_text(text)
    grade(keep=True)
    assert decide("override", "bob", "--task", "1.2", "--points", "9", "--why", "x") == 0
    assert decide("override", "carl", "--task", "1.2", "--points", "2", "--why", "copied") == 0
    (tmp_path / "second").touch()
    grade(keep=True, again=True)
    assert [grade(name)["1.2"] for name in ("bob", "carl")] == [14, 2]


def test_waiting_marks_are_those_of_the_summary(grade, decide, use, folder, output, tmp_path, capsys):
    """With decisions by hand and late days; what changes no mark is not counted."""
    use(Half)
    grade()
    assert decide("override", "anna", "--task", "1.2", "--points", "10", "--why", "x") == 0
    assert decide("late", "anna", "--days", "1", "--why", "x") == 0
    assert decide("override", "bob", "--task", "whole", "--points", "60", "--why", "x") == 0
    before = grade()["score"]
    (tmp_path / "second").touch()
    capsys.readouterr()
    grade(again=True)
    printed = capsys.readouterr().out
    assert "2 marks would change" in printed and "bob" not in printed.partition("would change")[2]
    _, _, after = re.search(r"  anna: ([\d.]+)( → )([\d.]+)\n", printed).groups()
    assert grade(again=True, keep=True)["score"] == float(after) != before
