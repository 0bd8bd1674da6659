"""`override`, `comment` and `late`: decisions by hand count, are shown, and survive."""

import json
import re

import pytest

from autograder.classroom.grading import grade_class
from autograder.commands import classes
from autograder.own_work.questions import Question
from autograder.own_work.sheets import Sheet, write_key

from ..conftest import ASSIGNMENT, changed_assignment, rows_of, two_tests, words_of
from .test_classes import MISTAKES

LATE = "due = 2026-01-01T00:00:00Z\npercent_per_day = 10\nmost_percent = 50"
WITH_POINTS = ("points = 0\nby_hand = true", "points = 8\nby_hand = true"), ("paper_hunt = 0", "paper_hunt = 4")


@pytest.fixture(autouse=True)
def assignment(typed, tmp_path):
    path = changed_assignment(tmp_path / "assignment.toml", *WITH_POINTS, late=LATE)
    typed.assignment = ["--assignment", path]
    return path


def page(output, student: str = "anna") -> str:
    return words_of((output / "students" / f"{student}.html").read_text())


def test_what_cannot_be_graded_may_be_worth_nothing(typed, folder, output):
    (folder / "dan.zip").write_bytes(b"no archive")
    typed.grade()
    assert (typed.row("dan")["score"], typed.row("dan")["status"]) == (None, "needs review")
    assert typed.decide("override", "dan", "--task", "all", "--points", "0", "--why", "sent nothing else") == 0
    assert f"each of {len(ASSIGNMENT.tasks)} tasks: 0 points by hand" in typed.out
    typed.grade()
    row = typed.row("dan")
    assert (row["score"], row["status"]) == (0, "graded")
    assert row["comments"].startswith("all tasks by hand: sent nothing else")
    assert "not graded: dan" not in typed.out, "that is decided"
    assert "1.1 Input embedding: marked by hand 0 of 4 points" in page(output, "dan.zip")
    assert typed.decide("override", "dan", "--task", "all", "--withdraw", "--why", "it came") == 0
    typed.grade()
    assert typed.row("dan")["score"] is None


def test_points_comments_and_late_days_count_and_are_shown(typed, output, log):
    assert typed.decide("late", "anna", "--days", "2", "--why", "by e-mail") == 2, "nobody has been graded yet"
    typed.grade()
    log()
    assert typed.decide("override", "Anna", "--task", "1.3", "--points", "4.5", "--why", "a <b>slip</b>") == 0
    assert "anna: 1.3 Multi-headed attention: 4.5 points by hand; run grade-class" in typed.out
    assert typed.decide("comment", "anna", "Come and see me.") == 0 and "comment on the whole noted" in typed.out
    assert typed.decide("comment", "anna", "Neat!", "--task", "1.4") == 0
    assert typed.decide("override", "anna", "--task", "E.1", "--points", "0", "--why", "it has no points") == 0
    typed.grade()
    row = typed.row()
    assert (row["score"], row["1.3"], row["1.3 state"]) == (90.5, 4.5, "passed") and log() == []
    by_hand = "1.3 Multi-headed attention: 4.5 of 14 (by hand: a <b>slip</b>)"
    assert row["comments"] == f"Come and see me.; {by_hand}; 1.4 Layer normalisation: Neat!"
    text = page(output)
    assert "90.5 of 100 points" in text and "4.5 points by hand: a <b>slip</b>" in text
    assert text.index("Come and see me.") < text.index("Tasks") < text.index("Neat!")
    assert "90.5" in (output / "class.html").read_text() and "4.5*" in (output / "class.html").read_text()
    record = json.loads((output / "records" / "anna.json").read_text())
    assert record["judgement"]["score"] == 100, "the record has what was graded"
    assert typed.decide("late", "anna", "--days", "2", "--why", "by e-mail") == 0
    assert typed.decide("comment", "anna", "--task", "1.4", "") == 0
    typed.grade()
    row = typed.row()
    assert (row["score"], row["late_days"], row["percent_off"]) == (72.4, 2, 20)
    assert row["comments"] == f"Come and see me.; 20% off for 2 late days; {by_hand}"
    text = page(output)
    assert "2 days late: 20% of the 90.5 points earned is taken off." in text and "by e-mail" in text
    for words in (("late",), ("override", "--task", "1.3")):
        assert typed.decide(words[0], "anna", *words[1:], "--withdraw", "--why", "never mind") == 0
    typed.grade()
    assert typed.scores() == {"anna": 100, "bob": 100, "carl": 100}


def test_a_sitting_gives_points(typed, output, tmp_path):
    typed.enrol("id,name,group\nanna,Anna,G\nbob,Bob,\ncarl,Carl,\ndora,Dora,G\n")
    typed.grade()
    questions = tuple(Question("shape", "", (), letter, tuple("ABCD")) for letter in "ABCD")
    folder = tmp_path / "elsewhere" / "sitting-noon"
    folder.mkdir(parents=True)
    write_key([Sheet("anna", "Anna", questions, is_all=True), Sheet("bob", "Bob", questions)], folder)
    (folder / "answers.csv").write_text("student,name,answers\nanna,Anna,ABCA\nbob,Bob,A---\n")
    words = ["ask", "--sitting", "noon", "--scan", folder / "answers.csv"]
    words += ["--marks", output, *typed.assignment, "--task"]
    assert typed.run(*words, "E.5") == 0
    assert "Anna  3 of 4\n" in typed.out
    assert "Bob   1 of 4; talk to this student; points out of 6, for lack of correct code\n" in typed.out
    assert "points of task E.5 for 2 students" in typed.out
    hunt = ["--points", "3", "--why", "hunt on paper"]
    assert typed.decide("override", "anna", "--task", "E.9", *hunt) == 0
    typed.grade()
    assert (typed.row()["score"], typed.row()["E.5"], typed.row("bob")["E.5"]) == (109, 6, 1.33)
    assert typed.row("dora")["E.5"] == 0, "a partner has a sheet of her own"
    (folder / "answers.csv").write_text("student,name,answers\nanna,Anna,ABCD\nbob,Bob,AB--\n")
    assert typed.decide("override", "bob", "--task", "E.5", *hunt) == 0
    assert typed.run(*words, "E.5") == 0 and "points of task E.5 for 1 student;" in typed.out
    assert "points of task E.5 by hand stay; withdraw them to let the sitting count: Bob (bob)\n" in typed.err
    typed.grade()
    rows = [typed.row(name) for name in ("anna", "bob")]
    assert [(row["score"], row["E.5"], row["E.9"]) for row in rows] == [(111, 8, 3), (103, 3, 0)]
    assert typed.run(*words, "1.3") == 2 and "--task 1.3: it has points without a sitting" in typed.err


def test_mistakes_are_one_line_and_change_nothing(typed, output, tmp_path):
    typed.grade()
    for words, message in MISTAKES["decisions"].items():
        assert typed.decide(*words.split(), "--why", "because") == 2
        assert typed.err.count("\n") == 1 and message in typed.err
    with pytest.raises(SystemExit):
        typed.decide("late", "anna", "--days", "1", "--why", " ")
    assert "--why: expected a reason" in typed.capsys.readouterr().err
    assert not (output / "decisions.jsonl").exists()
    assert typed.run("comment", "anna", "hello", "--output", tmp_path / "mraks") == 2
    assert "mraks/class.json: No such file or directory; expected the folder that" in typed.err
    assert not (tmp_path / "mraks").exists()


def test_everybody_on_the_roster_can_be_excused_or_marked(typed, output, tmp_path):
    """Also those who handed in nothing: Canvas gets EX, or the oral mark."""
    typed.enrol("id,name\nanna,Anna\nbob,Bob\ncarl,Carl\ndora,Dora\neve,Eve\n")
    typed.grade()
    assert typed.row("dora")["status"] == "nothing handed in"
    assert typed.decide("override", "dora", "--task", "whole", "--points", "71.5", "--why", "an oral exam") == 0
    assert "dora): the whole: 71.5 points by hand" in typed.out
    for name in ("eve", "anna"):
        assert typed.decide("override", name, "--excused", "--why", "ill") == 0
    assert typed.decide("override", "bob", "--task", "whole", "--points", "50", "--why", "half is his") == 0
    typed.grade()
    rows = {name: typed.row(name) for name in ("anna", "bob", "dora", "eve")}
    assert [row["status"] for row in rows.values()] == ["excused", "graded", "graded", "excused"]
    assert [row["score"] for row in rows.values()] == [None, 50, 71.5, None]
    assert rows["dora"]["comments"] == "by hand: an oral exam"
    assert (rows["anna"]["1.1"], rows["dora"]["1.1"], rows["eve"]["1.1"]) == (4, None, None), "not a 0 in any task"
    assert "excused (2): Anna, Eve\n" in typed.out
    text = page(output, "../class")
    assert " Dora 71.5* " in text and " Eve excused " in text and " 1.1 Input embedding 4 4 " in text, "nor in its mean"
    roster = tmp_path / "canvas.csv"
    roster.write_text("Student,ID,SIS Login ID\nAnna,1,anna\nBob,2,bob\nCarl,3,carl\nDora,4,dora\nEve,5,eve\n")
    assert typed.run("export-marks", output, "--for", "canvas", "--roster", roster) == 0
    exported = rows_of(output / "export" / "canvas.csv")[1:]
    assert [row[ASSIGNMENT.title] for row in exported] == ["EX", "50", "100", "71.5", "EX"]
    for name in ("anna", "bob", "dora", "eve"):
        assert typed.decide("override", name, "--task", "whole", "--withdraw", "--why", "back") == 0
    typed.grade()
    assert typed.scores() == {"anna": 100, "bob": 100, "carl": 100, "dora": None, "eve": None}


def test_decisions_can_be_entered_during_the_first_grading(typed, monkeypatch):
    def judge(*arguments):
        assert typed.decide("override", "anna", "--task", "1.3", "--points", "4", "--why", "x") == 0
        assert typed.decide("late", "bob", "--days", "1", "--why", "x") == typed.decide("comment", "bob", "Hello.") == 0
        return grade_class(*arguments)

    monkeypatch.setattr(classes, "grade_class", judge)
    assert typed.grade() == 0 and typed.scores() == {"anna": 90, "bob": 90, "carl": 100}


@pytest.fixture
def failed(use):
    """The task of which everybody loses an item."""
    tasks = ["1.2"]
    use(lambda intake: [two_tests(*tasks)])
    return tasks


def test_what_was_to_help_never_costs_points(typed, failed, output, assignment):
    """An item that is earned changes nothing; one that is given weighs like the item; points are never less."""
    first, second = (item.name for item in ASSIGNMENT.tasks[1].items[:2])
    typed.grade()
    assert typed.row()["1.2"] == 8
    assert typed.decide("override", "anna", "--task", "1.2", "--item", first, "--why", "x") == 0
    assert "earned already, so nothing changes" in typed.out and not (output / "decisions.jsonl").exists()
    assert typed.decide("override", "anna", "--task", "1.2", "--item", "valeus", "--why", "x") == 2
    assert f"--item valeus: task 1.2 has no such item: expected {first}, {second}" in typed.err
    assert typed.decide("override", "anna", "--task", "1.2", "--item", second, "--why", "x") == 0
    text = assignment.read_text()
    for points in (14, 28):
        assignment.write_text(text.replace("points = 14", f"points = {points}"))
        typed.grade("--keep")
        typed.grade()
        assert typed.row()["1.2"] == points
    assignment.write_text(text)
    typed.grade("--keep")
    assert typed.decide("override", "bob", "--task", "1.2", "--points", "9", "--why", "x") == 0
    assert typed.decide("override", "carl", "--task", "1.2", "--points", "2", "--why", "copied") == 0
    failed[:] = ["1.4"]
    typed.grade("--keep", "--again")
    assert [typed.row(name)["1.2"] for name in ("bob", "carl")] == [14, 2]


def test_waiting_marks_of_a_group_are_those_of_each_member(typed, failed):
    typed.enrol("id,name,group\nanna,Anna,G\nbob,Bob,\ncarl,Carl,\ndora,Dora,G\n")
    typed.grade()
    assert typed.decide("override", "dora", "--task", "1.2", "--points", "11", "--why", "x") == 0
    failed[:] = ["1.4"]
    typed.grade("--again")
    waiting = re.search(r"  Anna, Dora: Anna .* → (.*); Dora .* → (.*)\n", typed.out)
    assert waiting, typed.out
    typed.grade("--again", "--keep")
    assert [typed.row(name)["score"] for name in ("anna", "dora")] == [float(after) for after in waiting.groups()]


def test_waiting_marks_are_those_of_the_summary(typed, failed, output):
    """With decisions by hand and late days; what changes no mark is not counted."""
    typed.grade()
    assert typed.decide("override", "anna", "--task", "1.2", "--points", "10", "--why", "x") == 0
    assert typed.decide("late", "anna", "--days", "1", "--why", "x") == 0
    assert typed.decide("override", "bob", "--task", "whole", "--points", "60", "--why", "x") == 0
    typed.grade()
    before = typed.row()["score"]
    failed[:] = ["1.4"]
    typed.grade("--again")
    assert "2 marks would change" in typed.out and "bob" not in typed.out.partition("would change")[2]
    _, _, after = re.search(r"  anna: ([\d.]+)( → )([\d.]+)\n", typed.out).groups()
    typed.run("export-marks", output, "--for", "moodle")
    assert "the earlier mark counts, as another waits for `grade-class --keep`: anna, carl\n" in typed.err
    typed.grade("--again", "--keep")
    assert typed.row()["score"] == float(after) != before
    typed.run("export-marks", output, "--for", "moodle")
    assert "--keep" not in typed.err
