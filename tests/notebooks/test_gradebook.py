"""Our marks in nbgrader's gradebook, in SQLite and in a real PostgreSQL: all or none, and none of an earlier run.

Slips are told in one line before anything is graded.
"""

import csv

import pytest

from autograder.__main__ import main
from autograder.grading.record import Record
from autograder.grading.recording import Recorder, TasksJudged
from autograder.reports.gradebook import Gradebook, find_target
from autograder.testing.results import State, TaskResult
from foundation.command_line import UserError

from ..autograder.submissions import points_of


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('book') / 'gradebook.db'}"


@pytest.fixture
def scores(tmp_path):
    """What nbgrader exports: score by student."""

    def export(url: str) -> dict[str, float]:
        from nbgrader.api import Gradebook as Book
        from nbgrader.plugins import CsvExportPlugin

        with Book(find_target(url).url) as theirs:
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
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_marks_replace_those_of_an_earlier_run(kind, request, scores, assignment) -> None:
    url = request.getfixturevalue("url") if kind == "sqlite" else request.getfixturevalue(kind).create("grades")
    for states, expected in (({}, 100.0), ({"attention": "failed", "layer_norm": "timeout"}, 76.0), ({}, 100.0)):
        book = Gradebook(url, assignment)
        book.reset(["anna"])
        book.write("anna", content(assignment, **states), None)
        assert scores(url)["anna"] == expected


@pytest.mark.slow
def test_no_earlier_mark_survives_a_crash(url, scores, assignment) -> None:
    """Not after the reset, and not where the grader dies between two marks: then none of the new ones is there."""
    book = Gradebook(url, assignment)
    book.reset(["bert"])
    book.write("bert", content(assignment), None)
    book.reset(["bert"])
    assert scores(url)["bert"] == 0.0
    whole = content(assignment)
    parts = list(whole.judgement.parts)
    parts[7] = parts[7].model_copy(update={"score": "half of them"})
    broken = whole.changed(judgement=whole.judgement.model_copy(update={"parts": tuple(parts)}))
    with pytest.raises(UserError, match="could not convert string to float"):
        book.write("bert", broken, None)
    assert scores(url)["bert"] == 0.0


@pytest.mark.slow
def test_what_could_not_be_judged_and_what_a_human_gave(url, scores, assignment) -> None:
    from nbgrader.api import Gradebook as Book

    book = Gradebook(url, assignment)
    book.reset(["cleo"])
    book.write("cleo", content(assignment, attention="grader error"), None)

    def waiting(theirs) -> list[str]:
        [found] = [one for one in theirs.assignment_submissions("transformer") if one.student.id == "cleo"]
        return [
            grade.cell.name for notebook in found.notebooks for grade in notebook.grades if grade.needs_manual_grade
        ]

    assert scores(url)["cleo"] == 86.0
    with Book(book.target.url) as theirs:
        assert waiting(theirs) == ["test_1_2"]
        theirs.find_grade("test_1_2", "1_building_blocks", "transformer", "cleo").manual_score = 10.0
        theirs.db.commit()
    assert scores(url)["cleo"] == 96.0
    book.reset(["cleo"])
    book.write("cleo", content(assignment), None)
    assert scores(url)["cleo"] == 96.0  # as nbgrader has it: what a human gave stands until a human changes it
    with Book(book.target.url) as theirs:
        assert waiting(theirs) == ["test_1_2"]


@pytest.mark.slow
def test_a_server_that_is_not_there_is_one_line(assignment) -> None:
    book = Gradebook("postgresql://me:secret@127.0.0.1:1/grades", assignment)
    with pytest.raises(UserError, match=r"^gradebook postgresql\+psycopg://me:\*\*\*@127.0.0.1:1/grades: .*refused"):
        book.reset(["anna"])


@pytest.mark.parametrize(
    "text, url, shown",
    [
        ("sqlite:///a.db", "sqlite:///a.db", "a.db"),
        (
            "postgresql://me:secret@host/a",
            "postgresql+psycopg://me:secret@host/a",
            "postgresql+psycopg://me:***@host/a",
        ),
        ("postgresql+psycopg2://host/a", "postgresql+psycopg2://host/a", "postgresql+psycopg2://host/a"),
    ],
)
def test_a_url_is_shown_without_its_password(text, url, shown) -> None:
    assert (find_target(text).url, find_target(text).shown) == (url, shown)


@pytest.mark.parametrize("student", ["", "..", ".a", "a/b", "a\\b", "a b", "x" * 129, "a\n"])
def test_ids_that_could_lead_elsewhere_are_refused(student, tmp_path, capsys) -> None:
    assert main(["grade", str(tmp_path), "--to-nbgrader", "sqlite:///a.db", "--student", student]) == 2
    assert "--student" in (said := capsys.readouterr().err) and "expected letters" in said


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--student", "a"], "--student is whose marks nbgrader gets: add --to-nbgrader, or leave it out"),
        (["--to-nbgrader", "", "--student", "a"], "--to-nbgrader: is not an nbgrader course"),
        (["--to-nbgrader", "nowhere"], "--to-nbgrader also needs --student ID"),
        (["--to-nbgrader", "nowhere", "--student", "a"], "nowhere: is not an nbgrader course (it has no"),
        (["--to-nbgrader", "postgresql:/me:s3cret@host/a", "--student", "a"], "--to-nbgrader: is not an nbgrader cou"),
        (["--to-nbgrader", "postgresql://me:s3cret/a", "--student", "a"], "--to-nbgrader: not a database's URL; expec"),
        (["--to-nbgrader", "odd://x", "--student", "a"], "odd://x: Can't load plugin: sqlalchemy.dialects:odd"),
    ],
)
def test_slips_are_one_line(tmp_path, monkeypatch, capsys, arguments, said) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["grade", str(tmp_path), *arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith("autograder: ") and said in told and told.count("\n") == 1 and "s3cret" not in told
    assert not (tmp_path / "results.json").exists()
