"""What Gradescope says about a handing-in, and the results it gets back."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.record import Record
from autograder.grading.recording import Finished, Recorder, TakenIn, TasksJudged, TranslationsScored
from autograder.reports.gradescope import (
    MetadataError,
    as_markdown,
    as_results,
    in_full,
    main,
    notes_on,
    read_metadata,
)
from autograder.scoring import score
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment

CREATED = "2026-11-21T10:30:00.000000+01:00"


@pytest.fixture
def read(tmp_path: Path):
    """Reads metadata of this shape, some of it changed."""

    def call(assignment: dict | None = None, **changes: object):
        content = {
            "id": 123,
            "created_at": CREATED,
            "assignment": {"due_date": "2026-11-20T10:00:00+01:00", "late_due_date": None, **(assignment or {})},
            "submission_method": "upload",
            "users": [{"id": 1, "name": "Anna", "email": "anna@example.org"}],
            "previous_submissions": [],
        }
        path = tmp_path / "submission_metadata.json"
        path.write_text(json.dumps({**content, **changes}))
        return read_metadata(path)

    return call


@pytest.mark.parametrize(
    ("due", "late_due", "note"),
    [
        ("2026-11-21T10:29:15+01:00", None, "handed in 45 s after the due date"),
        ("2026-11-21T10:25:00+01:00", None, "handed in 5 min after the due date"),
        ("2026-11-21T08:25:00+01:00", "2026-11-22T00:00:00Z", "handed in 2 h 5 min after the due date"),
        ("2026-11-18T09:30:00+01:00", "2026-11-20T00:00:00Z", "handed in 3 d 1 h after the due date, and after the l"),
    ],
)
def test_lateness_is_said(read, due: str, late_due: str | None, note: str) -> None:
    (said,) = notes_on(read({"due_date": due, "late_due_date": late_due}), tells_scores=True)
    assert said.startswith(note)


def test_who_is_in_time_is_told_nothing_and_the_longest_extension_of_a_group_counts(read) -> None:
    for due in (None, "2026-11-21T10:30:00+01:00", "2026-11-21T09:30:01Z"):
        assert notes_on(read({"due_date": due}), tells_scores=True) == []
    users = [{"assignment": {"due_date": f"2026-11-{day}T00:00:00Z"}} for day in (19, 22, 20)]
    assert read(users=users)["late_seconds"] == 0


def test_earlier_attempts_are_passed_on(read) -> None:
    earlier = [{"score": 40.5}, {"score": None}, {"score": 3.0, "autograder_error": True}, {"score": "71.0"}]
    handing = read({"due_date": None}, previous_submissions=earlier)
    assert handing["earlier_scores"] == [40.5, None, None, 71.0]
    assert notes_on(handing, tells_scores=True) == ["attempt 5; points before: 40.5, not graded, not graded, 71"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"created_at": "yesterday"}, "not of Gradescope's shape"),
        ({"created_at": "2026-11-21T10:30:00"}, "has no time zone"),
        ({"users": {"assignment": 3}}, "not of Gradescope's shape"),
        ({"users": [3]}, "not of Gradescope's shape"),
        ({"previous_submissions": [{"score": "many"}]}, "not of Gradescope's shape"),
    ],
)
def test_metadata_of_another_shape_is_refused(read, changes: dict, says: str) -> None:
    with pytest.raises(MetadataError, match=says):
        read(**changes)


@given(st.text(st.sampled_from("`x\n<*") | st.characters(codec="utf-8"), max_size=60).filter(str.strip))
def test_a_message_cannot_leave_its_fence(message: str) -> None:
    head, blank, opening, *inside, closing = as_markdown("failed", message).split("\n")
    assert (head, blank) == ("**failed**", "") and opening == closing + "text" and set(closing) == {"`"}
    assert "\n".join(inside) == message and len(closing) >= 3
    assert max((len(run) for run in re.findall("`+", message)), default=0) < len(closing)


def record_of(state: str, number: str = "1.1") -> Record:
    assignment = read_assignment()
    results = tuple(
        TaskResult(task, State(state), 0.0, "why")
        if task.number == number
        else TaskResult(task, State.PASSED, task.points, "")
        for task in assignment.tasks
    )
    return Recorder("anna", assignment, "0" * 16).add(TasksJudged(results))


@pytest.mark.parametrize("state", ["grader error", "pending"])
def test_what_was_not_judged_has_no_marks_and_no_total(state) -> None:
    results = in_full(record_of(state), None, ["a note"])
    first, second = results["tests"][:2]
    assert "score" not in results and not {"score", "status"} & first.keys()
    assert first["extra_data"] == {"state": state}
    assert second["score"] == 14 and results["output"] == "a note"
    plain = as_results(record_of(state))
    assert "score" not in plain and not {"score", "status"} & plain["tests"][0].keys()


def test_results_are_complete(read) -> None:
    results = in_full(record_of("failed"), read(), [])
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 96
    for test in results["tests"]:
        assert {test["output_format"], test["visibility"]} == {"md", "visible"}
    assert results["tests"][0]["output"] == "**failed**\n\n```text\nwhy\n```"
    assert results["extra_data"]["handed_in"]["late_seconds"] == 88_200
    assert "nna@" not in json.dumps(results), "no address is passed on"


def test_a_failure_of_ours_is_no_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path)]) == 1  # there is no submission
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert "has not been graded" in results["output"] and "score" not in results and "tests" not in results
    assert "Traceback" in capsys.readouterr().err


LINES = ["the cat sleeps on the mat ."]


@pytest.mark.parametrize("hidden, tells_bleu", [("1.4", True), ("4.1", False), ("", True)])
def test_nothing_tells_what_hidden_parts_have_earned(read, hidden, tells_bleu) -> None:
    """Where parts are hidden on Gradescope, nothing else that a student sees tells it either."""
    assignment = read_assignment()
    tasks = [replace(task, visibility="hidden" if task.number == hidden else "visible") for task in assignment.tasks]
    results = tuple(TaskResult(task, State.PASSED, task.points, "") for task in tasks)
    recorder = Recorder("anna", assignment, "0" * 16)
    record = recorder.add_all([TakenIn({}), TranslationsScored(score(LINES, LINES)), TasksJudged(results), Finished()])
    told = in_full(record, read({"due_date": None}, previous_submissions=[{"score": 40.5}, {"score": 61}]), [])
    assert bool(told["leaderboard"]) == tells_bleu
    assert told["output"] == ("attempt 3" if hidden else "attempt 3; points before: 40.5, 61")
