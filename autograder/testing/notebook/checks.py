"""Runs the tests of one task in this process, and describes the result for the student."""

import contextlib
import io
import traceback
from dataclasses import replace

import pytest

from foundation.assignment_file import Assignment, Task
from foundation.sources import Locate, Sources

from ...assignment_code import where_to_collect
from ...grading.marks import Outcome, TaskResult, explain, judge_task
from ...grading.states import State
from ...rules import tell_short_cuts
from ..errors import CheckFailed
from ..in_process import InProcessSubmission
from ..running.outcomes import classify
from ..under_test import SEED, SUBMISSION, item_of
from .pictures import draw_failure

MAX_PRINTED = 4000


class Recorder:
    """A pytest plugin that gives the answers to the tests and collects the outcomes."""

    def __init__(self, sources: Sources, assignment: Assignment, seed: int, locate: Locate) -> None:
        self.submission, self.seed = InProcessSubmission(sources, assignment), seed
        self.outcomes: list[Outcome] = []
        self.failures: dict[str, CheckFailed] = {}  # by the test's name
        self._locate = locate
        self._modules = {path: name for name, (path, _) in sources.items()}

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Puts the submission and the seed where the tests find them."""
        config.stash[SUBMISSION], config.stash[SEED] = self.submission, self.seed

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Collects the outcome of a test."""
        error = None if call.excinfo is None else call.excinfo.value
        if isinstance(error, CheckFailed):
            self.failures[item.name] = error
        if call.when == "call" or error is not None:
            state, message = classify(error, self._describe)
            self.outcomes.append(Outcome(item.name, state, message, item_of(item)))

    def _describe(self, error: BaseException) -> tuple[State, str]:
        """State and message of a test that ended with an exception of the student's code."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename in self._modules]
        places = [(self._locate(self._modules[frame.filename], frame.lineno or 0), frame.line) for frame in own]
        shown = [f"  {place}: {line}" for place, line in places if place]
        return State.ERROR, "\n".join([f"{type(error).__name__}: {error}", *shown])


def run_task(
    task: Task, sources: Sources, seed: int, assignment: Assignment, locate: Locate
) -> tuple[TaskResult, str, bytes | None]:
    """Judges one task by its tests; `locate` says where the student finds a line, "" for lines of others.

    Returns:
        The result, what the student reads, and perhaps a PNG of what was returned beside what was expected.
    """
    recorder = Recorder(sources, assignment, seed, locate)
    printed = io.StringIO()
    # Without pytest's own report, and with no other plugin or configuration than ours.
    quiet = [f"-pno:{plugin}" for plugin in ("terminal", "cacheprovider", "logging", "faulthandler")]
    quiet += ["-s", "--disable-plugin-autoload"]
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            pytest.main([*where_to_collect(assignment), *quiet, "-m", task.marker], plugins=[recorder])
    finally:
        recorder.submission.close()
    result = judge_task(task, recorder.outcomes, assignment.credit)
    judged = {task.marker: task.components}
    for message in tell_short_cuts(sources, judged, assignment.contract.forbidden, locate).values():
        result = replace(result, state=State.REFUSED, score=0.0, message=message)
    failures = [recorder.failures.get(outcome.test) for outcome in missed_in(result)]
    drawn = next((failure for failure in failures if failure is not None and failure.compared is not None), None)
    picture = None if drawn is None or result.state == State.REFUSED else draw_failure(drawn)
    return result, as_text(result, printed.getvalue(), seed), picture


def missed_in(result: TaskResult) -> list[Outcome]:
    """The tests that did not pass."""
    return [outcome for outcome in result.outcomes if outcome.state != State.PASSED]


def as_text(result: TaskResult, printed: str, seed: int) -> str:
    """The text below the student's cell, with what the answers printed."""
    task, total = result.task, len(result.outcomes)
    missed = missed_in(result)
    points = f"{result.score:g} of {task.points:g} points" if task.points else "no points, an extension"
    mark = "✓" if result.state == "passed" else "✗"
    count = f"{total - len(missed)} of {total} tests pass"
    lines = [f"{mark} {task.number} {task.title}: {count}, {points}"]
    if result.state == "refused":
        lines += ["", result.message]
    elif missed:
        repeat = f'to repeat with the same inputs: check("{task.number}", seed={seed})'
        lines += ["", explain(missed, total).removeprefix(f"{count}.\n"), "", repeat]
    elif not total:
        lines += ["", result.message, printed]
    if total and printed.strip():
        lines += ["", "output of your code:", printed.strip()[-MAX_PRINTED:]]
    return "\n".join(lines)
