"""Runs the tests of one task in this process, and words what became of them."""

import contextlib
import io
import traceback
from collections.abc import Callable
from dataclasses import replace

import pytest

from foundation.assignment_file import Task
from foundation.places import COMPONENT_TESTS as TESTS

from ...grading.marks import Outcome, TaskResult, explain, judge_task
from ...intake.modules import Sources
from ...rules import tell_short_cuts
from ..in_process import InProcessSubmission
from ..outcomes import classify
from ..stash import SEED, SUBMISSION

MAX_PRINTED = 4000

Locate = Callable[[str, int], str]
"""Where the student finds a line, from the file name in a traceback and the line's number; "" for other files."""


class Recorder:
    """A pytest plugin: hands the answers to the tests and collects what became of each."""

    def __init__(self, submission: InProcessSubmission, seed: int, locate: Locate) -> None:
        self.submission, self.seed, self.locate = submission, seed, locate
        self.outcomes: list[Outcome] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[SUBMISSION], config.stash[SEED] = self.submission, self.seed

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        error = None if call.excinfo is None else call.excinfo.value
        if call.when == "call" or error is not None:
            state, message = classify(error, self._describe)
            self.outcomes.append(Outcome(item.name, state, message, item.get_closest_marker("core") is not None))

    def _describe(self, error: BaseException) -> tuple[str, str]:
        """State and message of a test that ended with an exception of the student's code."""
        frames = traceback.extract_tb(error.__traceback__)
        places = [(self.locate(frame.filename, frame.lineno or 0), frame.line) for frame in frames]
        shown = [f"  {place}: {line}" for place, line in places if place]
        return "error", "\n".join([f"{type(error).__name__}: {error}", *shown])


def run_task(task: Task, sources: Sources, seed: int, credit: str, locate: Locate) -> tuple[TaskResult, str]:
    """Judges one task; the result, and what the answers printed meanwhile."""
    submission = InProcessSubmission(sources)
    recorder = Recorder(submission, seed, locate)
    printed = io.StringIO()
    # Nothing of pytest's own report is wanted, and no plugin or configuration but ours.
    quiet = [f"-pno:{plugin}" for plugin in ("terminal", "cacheprovider", "logging", "faulthandler")]
    where = [str(TESTS), "-c", str(TESTS / "pytest.ini"), "--rootdir", str(TESTS), "--import-mode=importlib"]
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            pytest.main([*where, *quiet, "-s", "--disable-plugin-autoload", "-m", task.marker], plugins=[recorder])
    finally:
        submission.close()
    result = judge_task(task, recorder.outcomes, credit)
    judged = {task.marker: task.judges}
    for told in tell_short_cuts(sources, judged, lambda module, line: locate(sources[module][0], line)).values():
        result = replace(result, state="refused", score=0.0, message=told)
    return result, printed.getvalue()


def as_text(result: TaskResult, printed: str, seed: int) -> str:
    """What the student reads below the cell."""
    task, total = result.task, len(result.outcomes)
    missed = [outcome for outcome in result.outcomes if outcome.state != "passed"]
    points = f"{result.score:g} of {task.points:g} points" if task.points else "no points, an extension"
    mark = "✓" if result.state == "passed" else "✗"
    lines = [f"{mark} {task.number} {task.title}: {total - len(missed)} of {total} tests pass, {points}"]
    if result.state == "refused":
        lines += ["", result.message]
    elif missed:
        lines += ["", explain(missed, total), "", f'the same inputs again: check("{task.number}", seed={seed})']
    elif not total:
        lines += ["", result.message, printed]
    if total and printed.strip():
        lines += ["", "printed meanwhile:", printed.strip()[-MAX_PRINTED:]]
    return "\n".join(lines)
