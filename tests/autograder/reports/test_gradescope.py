"""The results that Gradescope gets back."""

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
    as_markdown,
    as_results,
    in_full,
    main,
)
from autograder.scoring import score
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment


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
    results = in_full(record_of(state))
    first, second = results["tests"][:2]
    assert "score" not in results and not {"score", "status"} & first.keys()
    assert first["extra_data"] == {"state": state}
    assert second["score"] == 14
    plain = as_results(record_of(state))
    assert "score" not in plain and not {"score", "status"} & plain["tests"][0].keys()


def test_results_are_complete() -> None:
    results = in_full(record_of("failed"))
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 96
    for test in results["tests"]:
        assert {test["output_format"], test["visibility"]} == {"md", "visible"}
    assert results["tests"][0]["output"] == "**failed**\n\n```text\nwhy\n```"


def test_a_failure_of_ours_is_no_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path)]) == 1  # there is no submission
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert "has not been graded" in results["output"] and "score" not in results and "tests" not in results
    assert "Traceback" in capsys.readouterr().err


LINES = ["the cat sleeps on the mat ."]


@pytest.mark.parametrize("hidden, tells_bleu", [("1.4", True), ("4.1", False), ("", True)])
def test_nothing_tells_what_hidden_parts_have_earned(hidden, tells_bleu) -> None:
    """Where parts are hidden on Gradescope, nothing else that a student sees tells it either."""
    assignment = read_assignment()
    tasks = [replace(task, visibility="hidden" if task.number == hidden else "visible") for task in assignment.tasks]
    results = tuple(TaskResult(task, State.PASSED, task.points, "") for task in tasks)
    recorder = Recorder("anna", assignment, "0" * 16)
    record = recorder.add_all([TakenIn({}), TranslationsScored(score(LINES, LINES)), TasksJudged(results), Finished()])
    told = in_full(record)
    assert bool(told["leaderboard"]) == tells_bleu
