"""Runs the tests of one task in a student's kernel, and describes the result."""

from __future__ import annotations

from dataclasses import replace

from autograder.sources import Locate, Sources
from foundation.assignment_file import Assignment, Task

from ..rules import find_mentions
from .collection import Collection, run_in_process
from .observation import side_by_side
from .results import State, TaskResult, by_reason, explain, judge_task
from .under_test import InProcessSubmission

MAX_PRINTED = 4000


def run_task(task: Task, sources: Sources, seed: int, assignment: Assignment, locate: Locate) -> tuple[TaskResult, str]:
    """Judges one task by its tests; `locate` says where the student finds a line, "" for lines of others.

    Returns:
        The result, and what the student reads.
    """
    tests = Collection(assignment)
    printed = run_in_process(tests, InProcessSubmission(sources, assignment, locate), task, seed)
    result = judge_task(task, list(tests.outcomes.values()), assignment.credit)
    if is_graded_later(task):
        result = replace(result, score=0.0)
    judged = {component.partition(".")[0] for component in task.components}
    mentions = find_mentions({name: sources[name] for name in judged & sources.keys()}, assignment.contract.forbidden)
    return result, "\n".join([as_text(result, tests, printed, seed), *mentions])


def is_graded_later(task: Task) -> bool:
    """Whether its points depend on what students do not have: faults that their tests find, the kinds of mistakes."""
    return task.understanding in ("own_tests", "hunts")


def as_text(result: TaskResult, tests: Collection, printed: str, seed: int) -> str:
    """The text below the student's cell, with what the answers printed."""
    task, total = result.task, len(result.outcomes)
    missed = [outcome for outcome in result.outcomes if outcome.state != State.PASSED]
    points = f"{result.score:g} of {task.points:g} points" if task.points else "no points, an extension"
    points = "graded once you hand in" if is_graded_later(task) else points
    mark = "✓" if result.state == "passed" else "✗"
    count = f"{total - len(missed)} of {total} tests pass"
    lines = [f"{mark} {task.number} {task.title}: {count}, {points}"]
    if missed:
        lines += ["", explain(missed, total).removeprefix(f"{count}.\n"), ""]
        compared = tests.compared.get(by_reason(missed)[0][0].nodeid)  # of the failure that is explained first
        if compared is not None and (drawn := side_by_side(*compared)):
            lines += [*drawn, ""]
        lines.append(f'to repeat with the same inputs: check("{task.number}", seed={seed})')
    elif not total:
        lines += ["", "its tests are not here: they are handed out later", printed]
    if total and printed.strip():
        lines += ["", "output of your code:", printed.strip()[-MAX_PRINTED:]]
    return "\n".join(lines)
