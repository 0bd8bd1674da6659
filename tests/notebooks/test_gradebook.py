"""Our marks in nbgrader's gradebook: all or none, and none of an earlier run.

Slips are told in one line before anything is graded.
"""

import csv
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.grading.record import Record
from autograder.grading.recording import Recorder, TasksJudged
from autograder.reports.gradebook import STUDENT, Gradebook, database_of
from autograder.testing.results import State, TaskResult
from foundation.command_line import UserError

from ..autograder.submissions import points_of


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    (folder / "nbgrader_config.py").touch()
    return folder


@pytest.fixture
def scores(tmp_path, course):
    """What nbgrader exports: score by student."""

    def export() -> dict[str, float]:
        from nbgrader.api import Gradebook as Book
        from nbgrader.plugins import CsvExportPlugin

        with Book(database_of(course)) as theirs:
            CsvExportPlugin(to=str(tmp_path / "grades.csv")).export(theirs)
        with (tmp_path / "grades.csv").open() as file:
            return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}

    return export


def content(assignment, **states: str) -> Record:
    """A record in which every part is passed but those named by their task."""
    results = []
    for task in assignment.tasks:
        state = State(states.get(task.name, "passed"))
        results.append(TaskResult(task, state, points_of(task) if state == State.PASSED else 0.0, ""))
    return Recorder("anna", assignment, "0" * 16).add(TasksJudged(tuple(results)))


@pytest.mark.slow
def test_marks_replace_those_of_an_earlier_run(course, scores, assignment) -> None:
    for states, expected in (({}, 100.0), ({"attention": "failed", "layer_norm": "timeout"}, 76.0), ({}, 100.0)):
        book = Gradebook(str(course), assignment)
        book.reset(["anna"])
        book.write("anna", content(assignment, **states), None)
        assert scores()["anna"] == expected


@pytest.mark.slow
def test_no_earlier_mark_survives_a_crash(course, scores, assignment) -> None:
    """Not after the reset, and not where the grader dies between two marks: then none of the new ones is there."""
    book = Gradebook(str(course), assignment)
    book.reset(["bert"])
    book.write("bert", content(assignment), None)
    book.reset(["bert"])
    assert scores()["bert"] == 0.0
    whole = content(assignment)
    parts = list(whole.judgement.parts)
    parts[7] = parts[7].model_copy(update={"score": "half of them"})
    broken = whole.changed(judgement=whole.judgement.model_copy(update={"parts": tuple(parts)}))
    with pytest.raises(UserError, match="could not convert string to float"):
        book.write("bert", broken, None)
    assert scores()["bert"] == 0.0


@pytest.mark.slow
def test_what_could_not_be_judged_and_what_a_human_gave(course, scores, assignment) -> None:
    from nbgrader.api import Gradebook as Book

    book = Gradebook(str(course), assignment)
    book.reset(["cleo"])
    book.write("cleo", content(assignment, attention="grader error"), None)

    def waiting(theirs) -> list[str]:
        [found] = [one for one in theirs.assignment_submissions("transformer") if one.student.id == "cleo"]
        return [
            grade.cell.name for notebook in found.notebooks for grade in notebook.grades if grade.needs_manual_grade
        ]

    assert scores()["cleo"] == 86.0
    with Book(database_of(course)) as theirs:
        assert waiting(theirs) == ["test_1_2"]
        theirs.find_grade("test_1_2", "1_building_blocks", "transformer", "cleo").manual_score = 10.0
        theirs.db.commit()
    assert scores()["cleo"] == 96.0
    book.reset(["cleo"])
    book.write("cleo", content(assignment), None)
    assert scores()["cleo"] == 96.0  # as nbgrader has it: what a human gave stands until a human changes it
    with Book(database_of(course)) as theirs:
        assert waiting(theirs) == ["test_1_2"]


@pytest.mark.parametrize("student", ["", "..", ".a", "a/b", "a\\b", "a b", "x" * 129, "a\n"])
def test_ids_that_could_lead_elsewhere_are_refused(student) -> None:
    assert not STUDENT.fullmatch(student)


@pytest.mark.parametrize("course", ["", "nowhere"])
def test_what_is_no_course_is_one_line(tmp_path, monkeypatch, capsys, course) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "class" / "anna").mkdir(parents=True)
    assert main(["grade-class", "class", "--to-nbgrader", course]) == 2
    told = capsys.readouterr().err
    assert f"--to-nbgrader {course}: is not an nbgrader course (it has no" in told and told.count("\n") == 1
