"""The results that Gradescope gets back."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.judging import bleu_of
from autograder.grading.recording import Finished, Found, Recorder, TakenIn, TasksJudged
from autograder.reports.gradescope import as_markdown, as_results, main
from autograder.scoring import score
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import read_assignment

from ..submissions import points_of

ASSIGNMENT = read_assignment()
LINES = ["the cat sleeps on the mat ."]


@given(st.text(st.sampled_from("`x\n<*") | st.characters(codec="utf-8"), max_size=60).filter(str.strip))
def test_a_message_cannot_leave_its_fence(message: str) -> None:
    head, blank, opening, *inside, closing = as_markdown("failed", message).split("\n")
    assert (head, blank) == ("**failed**", "") and opening == closing + "text" and set(closing) == {"`"}
    assert "\n".join(inside) == message and len(closing) >= 3
    assert max((len(run) for run in re.findall("`+", message)), default=0) < len(closing)


def test_results_are_complete() -> None:
    """What was not judged has no mark, and then there is no total."""
    states = {"1.1": State.FAILED, "1.2": State.GRADER_ERROR}
    tasks = [(task, states.get(task.number, State.PASSED)) for task in ASSIGNMENT.tasks]
    judged = [TaskResult(task, state, points_of(task) * (state is State.PASSED), "why") for task, state in tasks]
    recorder = Recorder("anna", ASSIGNMENT, "0" * 16)
    results = as_results(recorder.add(TasksJudged(tuple(judged))))
    failed, broken, passed = results["tests"][:3]
    assert failed["output"] == "**failed**\n\n```text\nwhy\n```" and (failed["score"], passed["score"]) == (0, 14)
    assert {(test["output_format"], test["visibility"]) for test in results["tests"]} == {("md", "visible")}
    assert broken["extra_data"] == {"state": "grader error"} and not {"score", "status"} & broken.keys()
    assert "score" not in results
    judged[1] = replace(judged[2], task=ASSIGNMENT.tasks[1], score=14.0)
    results = as_results(recorder.add(TasksJudged(tuple(judged))))
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 96


def test_a_failure_of_ours_is_no_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(tmp_path)]) == 1  # there is no submission
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert "has not been graded" in results["output"] and "score" not in results and "tests" not in results
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("hidden, tells_bleu", [("1.4", True), ("4.1", False), ("", True)])
def test_nothing_tells_what_hidden_parts_have_earned(hidden, tells_bleu) -> None:
    """Where parts are hidden on Gradescope, nothing else that a student sees tells it either."""
    tasks = [replace(task, visibility="hidden" if task.number == hidden else "visible") for task in ASSIGNMENT.tasks]
    results = tuple(TaskResult(task, State.PASSED, task.points, "") for task in tasks)
    recorder = Recorder("anna", ASSIGNMENT, "0" * 16)
    bleu = Found({"bleu": bleu_of(score(LINES, LINES))})
    record = recorder.add_all([TakenIn({}), bleu, TasksJudged(results), Finished()])
    told = as_results(record)
    assert bool(told["leaderboard"]) == tells_bleu
