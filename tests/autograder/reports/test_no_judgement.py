"""A state that is no judgement has no number in any output, and a person is told first; every other state has one."""

import csv
import json
from pathlib import Path

import pytest

from autograder.classroom.entries import Member, Roll
from autograder.classroom.marks import Result, Status, results_of
from autograder.grading.record import Record
from autograder.grading.recording import Finished, GivenUp, Recorder, Refused, TakenIn, TasksJudged
from autograder.reports.class_summary import as_class_table, write_summary
from autograder.reports.exports import PLATFORMS, About, export, marks_of
from autograder.reports.gradescope import as_results
from autograder.reports.pages import write_pages
from autograder.reports.terminal import as_table
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment

from ..submissions import points_of

ASSIGNMENT = read_assignment()
FIRST = ASSIGNMENT.tasks[0]
SCORES = {"canvas": ASSIGNMENT.title, "moodle": "Grade"}


def record(key: str, state: State, points: float) -> Record:
    """The first task in a state, with points that nobody may see where it is no judgement; all others passed."""
    recorder = Recorder(key, ASSIGNMENT, "0" * 16)
    others = [TaskResult(task, State.PASSED, points_of(task), "") for task in ASSIGNMENT.tasks[1:]]
    return recorder.add_all(
        [TakenIn({}), TasksJudged((TaskResult(FIRST, state, points, "why"), *others)), Finished()],
    )


def class_of(records: dict[str, Record]) -> tuple[Roll, list[Result]]:
    members = tuple(
        Member(id=key, name=key.title(), key=key, entry=key, ids={"canvas": str(number), "moodle": str(number)})
        for number, key in enumerate(records, 10)
    )
    of_class = {"assignment": "a", "layout": "plain", "folder": "class", "has_roster": True}
    roll = Roll(**of_class, members=members, left_out=())
    return roll, results_of(roll, records)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("state", State)
def test_every_state_has_a_number_everywhere_or_nowhere(state, tmp_path):
    points = FIRST.points if state is State.PASSED else 1.0
    found = record("bob", state, points)
    roll, results = class_of({"anna": record("anna", State.PASSED, FIRST.points), "bob": found})
    _, bob = results
    expected = round(ASSIGNMENT.max_score - FIRST.points + points, 2) if state.has_mark else None
    assert (found.judgement.score, found.judgement.parts[0].score) == (expected, points if state.has_mark else None)
    assert (bob.score, bob.status) == (expected, Status.GRADED if state.has_mark else Status.NEEDS_REVIEW)
    assert bool(bob.reason) == (not state.has_mark) and found.needs_a_person == (not state.has_mark)

    write_summary(roll, results, tmp_path)
    _, row = rows(tmp_path / "summary.csv")
    shown = [] if expected is None else [expected, points]
    assert [float(row[name]) for name in ("score", FIRST.number) if row[name]] == shown
    _, student = json.loads((tmp_path / "summary.json").read_text())["students"]
    assert [student[name] for name in ("score", FIRST.number) if student[name] is not None] == shown
    figures = f"mean {(100 + (100 if expected is None else expected)) / 2:.1f},"
    assert figures in as_class_table(roll, results), "what has no score is in no mean"

    (tmp_path / "students").mkdir()
    for name, column in SCORES.items():
        export(name, marks_of(results), About(ASSIGNMENT.title, ASSIGNMENT.max_score), tmp_path, tmp_path)
        exported = [line[column] for line in rows(tmp_path / f"{name}.csv") if "Bob" in str([*line.values()])]
        assert [float(score) for score in exported if score] == shown[:1], name
    assert PLATFORMS.keys() == SCORES.keys()

    outcome = as_results(found)
    assert outcome.get("score") == expected and outcome["tests"][0].get("score") == (shown[1] if shown else None)
    printed = [line for line in as_table(found).splitlines() if " / " in line]
    assert [("–" in line) for line in printed if FIRST.title in line or "score" in line] == [not shown] * 2

    write_pages(roll, results, ASSIGNMENT, {}, tmp_path)
    page, own = (tmp_path / "class.html").read_text(), (tmp_path / "students" / "bob.html").read_text()
    first = page[page.index("Look at these first") : page.index("What the class got wrong")]
    everyone = page[page.index('id="everyone"') :]
    cells = everyone[everyone.index(">Bob<") :].split("</tr>")[0].count("data-value")
    assert cells == len(ASSIGNMENT.tasks) + (1 if state.has_mark else -1), "of all tasks and the score"
    if not state.has_mark:
        assert ">Bob<" in first and ">Anna<" not in first
        assert "no mark yet" in own and f"0 of {FIRST.points:g} points" not in own


@pytest.mark.parametrize("event", [Refused("the archive is damaged"), GivenUp("a bug of ours")])
def test_nothing_of_a_submission_without_a_judgement_is_a_number(event, tmp_path):
    carl = Recorder("carl", ASSIGNMENT, "0" * 16).add_all([TakenIn({}), event, Finished()])
    late = record("anna", State.TIMEOUT, 0.0)
    roll, results = class_of({"anna": late, "carl": carl})
    assert carl.judgement.score is None and {part.score for part in carl.judgement.parts} == {None}
    assert results[1].status is Status.NEEDS_REVIEW and event.reason in results[1].reason
    write_pages(roll, results, ASSIGNMENT, {}, tmp_path)
    page = (tmp_path / "class.html").read_text()
    first = page[page.index("Look at these first") : page.index("What the class got wrong")]
    assert 0 < first.index(">Carl<") < first.index(">Anna<"), "before what has a score"
    assert event.reason in first
    assert event.reason in (tmp_path / "students" / "carl.html").read_text()


@pytest.mark.parametrize("state, score", [(State.NOT_GRADED, 0.0), (State.PENDING, 4.0), (State.FAILED, None)])
def test_no_record_can_say_otherwise(state, score):
    part = record("anna", State.PASSED, FIRST.points).judgement.parts[0]
    with pytest.raises(ValueError, match=f"task {FIRST.number}: {state}, with the score {score}"):
        part.changed(state=state, score=score)
