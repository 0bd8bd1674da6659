"""Runs the tests of one task in this process, and describes the result for the student."""

import traceback
from dataclasses import replace

import pytest

from autograder.sources import Locate, Sources
from foundation.assignment_file import Assignment, Task

from ...rules import find_mentions
from ..collection import Collection, run_in_process
from ..results import CheckFailed, Outcome, State, TaskResult, by_reason, explain, judge_task
from ..under_test import InProcessSubmission
from .pictures import draw_failure

MAX_PRINTED = 4000


class NotebookTests(Collection):
    """The tests as they run on a student's answers, in the student's kernel.

    Attributes:
        failures: failed comparisons, by the test's name.
    """

    def __init__(self, sources: Sources, assignment: Assignment, locate: Locate) -> None:
        """Collects all tests; `locate` says where the student finds a line of a module."""
        self.failures: dict[str, CheckFailed] = {}
        self._locate = locate
        self._modules = {path: name for name, (path, _) in sources.items()}
        super().__init__(assignment)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Keeps failed comparisons, to be drawn."""
        if call.excinfo is not None and isinstance(call.excinfo.value, CheckFailed):
            self.failures[item.name] = call.excinfo.value
        return super().pytest_runtest_makereport(item, call)

    def describe(self, error: BaseException) -> tuple[State, str]:
        """State and message of a test that ended with an exception of the student's code."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename in self._modules]
        places = [(self._locate(self._modules[frame.filename], frame.lineno or 0), frame.line) for frame in own]
        is_told = isinstance(error, SyntaxError)  # with its own place
        shown = [f"  {place}: {line}" for place, line in places if place and not is_told]
        return State.ERROR, "\n".join([f"{type(error).__name__}: {error}", *shown])


def run_task(
    task: Task, sources: Sources, seed: int, assignment: Assignment, locate: Locate
) -> tuple[TaskResult, str, bytes | None]:
    """Judges one task by its tests; `locate` says where the student finds a line, "" for lines of others.

    Returns:
        The result, what the student reads, and perhaps a PNG of what was returned beside what was expected.
    """
    tests = NotebookTests(sources, assignment, locate)
    printed = run_in_process(tests, InProcessSubmission(sources, assignment, locate), task, seed)
    result = judge_task(task, list(tests.outcomes.values()), assignment.credit)
    if is_graded_later(task):
        result = replace(result, score=0.0)
    picture = None
    if reasons := by_reason(missed_in(result)):  # what the text begins with
        first = tests.failures.get(reasons[0][0].test)
        picture = draw_failure(first) if first is not None else None
    judged = {component.partition(".")[0] for component in task.components}
    mentions = find_mentions({name: sources[name] for name in judged & sources.keys()}, assignment.contract.forbidden)
    return result, "\n".join([as_text(result, printed, seed), *mentions]), picture


def is_graded_later(task: Task) -> bool:
    """Whether its points depend on what students do not have: faults that their tests find, the kinds of mistakes."""
    return task.understanding in ("own_tests", "hunts")


def missed_in(result: TaskResult) -> list[Outcome]:
    """The tests that did not pass."""
    return [outcome for outcome in result.outcomes if outcome.state != State.PASSED]


def as_text(result: TaskResult, printed: str, seed: int) -> str:
    """The text below the student's cell, with what the answers printed."""
    task, total = result.task, len(result.outcomes)
    missed = missed_in(result)
    points = f"{result.score:g} of {task.points:g} points" if task.points else "no points, an extension"
    points = "graded once you hand in" if is_graded_later(task) else points
    mark = "✓" if result.state == "passed" else "✗"
    count = f"{total - len(missed)} of {total} tests pass"
    lines = [f"{mark} {task.number} {task.title}: {count}, {points}"]
    if missed:
        repeat = f'to repeat with the same inputs: check("{task.number}", seed={seed})'
        lines += ["", explain(missed, total).removeprefix(f"{count}.\n"), "", repeat]
    elif not total:
        lines += ["", "its tests are not here: they are handed out later", printed]
    if total and printed.strip():
        lines += ["", "output of your code:", printed.strip()[-MAX_PRINTED:]]
    return "\n".join(lines)
