"""Where parts are hidden on Gradescope, nothing else that a student sees tells what they have earned."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from autograder.grading.events import Finished, TakenIn, TasksJudged, TranslationsScored
from autograder.grading.marks import TaskResult
from autograder.grading.recording import Recorder
from autograder.grading.states import State
from autograder.reports.gradescope import SubmissionMetadata, in_full
from autograder.scoring import score
from foundation.assignment_file import read_assignment

LINES = ["the cat sleeps on the mat ."]


@pytest.mark.parametrize("hidden, tells_bleu", [("1.4", True), ("4.1", False), ("", True)])
def test_nothing_tells_what_hidden_parts_have_earned(hidden, tells_bleu) -> None:
    assignment = read_assignment()
    tasks = [replace(task, visibility="hidden" if task.number == hidden else "visible") for task in assignment.tasks]
    results = tuple(TaskResult(task, State.PASSED, task.points, "") for task in tasks)
    recorder = Recorder("anna", assignment, "0" * 16)
    record = recorder.add_all([TakenIn({}), TranslationsScored(score(LINES, LINES)), TasksJudged(results), Finished()])
    metadata = SubmissionMetadata("1", "upload", datetime.now(UTC), None, None, (40.5, 61.0))
    told = in_full(record, metadata, [])
    assert bool(told["leaderboard"]) == tells_bleu
    assert told["output"] == ("attempt 3" if hidden else "attempt 3; points before: 40.5, 61")
