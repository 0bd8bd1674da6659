"""Runs the tests of one task in a student's kernel, describes the result, and draws a wrong one.

A picture shows what an answer returned beside what was expected: the matrix in which they differ most.
"""

from __future__ import annotations

import io
from dataclasses import replace

import torch
from torch import Tensor

from autograder.sources import Locate, Sources
from foundation.assignment_file import Assignment, Task

from ..rules import find_mentions
from .collection import Collection, run_in_process
from .observation import worst_place
from .results import Outcome, State, TaskResult, by_reason, explain, judge_task
from .under_test import InProcessSubmission

MAX_PRINTED = 4000
WORST = "#e600e6"
"""Of the outline; occurs in none of the scales."""
CELL = 0.36
"""Inches."""
LARGEST = 8.0
"""Inches of a matrix of any size."""


def run_task(
    task: Task, sources: Sources, seed: int, assignment: Assignment, locate: Locate
) -> tuple[TaskResult, str, bytes | None]:
    """Judges one task by its tests; `locate` says where the student finds a line, "" for lines of others.

    Returns:
        The result, what the student reads, and perhaps a PNG of what was returned beside what was expected.
    """
    tests = Collection(assignment)
    printed = run_in_process(tests, InProcessSubmission(sources, assignment, locate), task, seed)
    result = judge_task(task, list(tests.outcomes.values()), assignment.credit)
    if is_graded_later(task):
        result = replace(result, score=0.0)
    picture = None
    if reasons := by_reason(missed_in(result)):
        first = reasons[0][0]  # what the text begins with
        picture = draw_failure(first.message.split("\n")[0], *tests.compared.get(first.nodeid, ()))
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


def draw_failure(what: str, *compared: Tensor) -> bytes | None:
    """What was returned beside what was expected as a PNG; None where these are not two tensors of several numbers."""
    if not compared or compared[0].numel() < 2:
        return None
    got, expected = (torch.atleast_2d(one.detach().double()) for one in compared)
    *outer, row, column = worst_place(got, expected)
    part = tuple(outer)
    return plot(f"{what} {outer}" if outer else what, expected[part], got[part], (row, column), "weights" in what)


def plot(title: str, expected: Tensor, got: Tensor, worst: tuple[int, int], is_weights: bool) -> bytes:
    """Two heat maps on one scale, that of the expected values."""
    from matplotlib.figure import Figure  # here: it takes a second to load, and most checks pass
    from matplotlib.patches import Rectangle

    height, width = (min(CELL * max(length, 5), LARGEST) for length in expected.shape)
    figure = Figure(figsize=(2 * width + 2, height + 1.3), layout="constrained")
    figure.suptitle(title, fontsize=10)
    highest = 1.0 if is_weights else float(expected.abs().max()) or 1.0
    scale, lowest = ("viridis", 0.0) if is_weights else ("RdBu_r", -highest)
    both = figure.subplots(1, 2)
    for axes, values, name in zip(both, (expected, got), ("expected", "your code"), strict=True):
        image = axes.imshow(values.numpy(), cmap=scale, vmin=lowest, vmax=highest)
        axes.set_title(name, fontsize=10)
        axes.set_ylabel("query" if is_weights else "row")
        axes.set_xlabel("key" if is_weights else "column")
        axes.locator_params(integer=True)
        corner = (worst[1] - 0.5, worst[0] - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=WORST, linewidth=2.5))
    figure.colorbar(image, ax=both, shrink=0.85, extend="both")
    figure.supxlabel("outlined: the greatest difference", fontsize=8)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()
