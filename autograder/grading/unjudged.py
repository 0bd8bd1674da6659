"""Code that passes although no test has reached it: other situations are drawn for it; what is left is listed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from foundation.sources import Locate

from ..rules import Branch, JudgedCode
from ..sandbox.proxy.submission import Sandbox
from .marks import TaskResult, judge_task, passing_components
from .record import Unjudged
from .states import State

if TYPE_CHECKING:
    from .judging import Grader

FURTHER = 3
"""How often other situations are drawn where branches of code that passes were not reached."""


def judge_further(
    grader: Grader, sandbox: Sandbox, seed: int, judged: JudgedCode, results: Collection[TaskResult]
) -> list[TaskResult]:
    """Draws other situations for components that pass although some of their branches were not reached.

    A wrong branch may need a rare combination. Ends once all branches were reached, or a task fails, or after a few
    times.

    Args:
        grader: that has judged the submission.
        sandbox: with the submission.
        seed: of the tests' random inputs.
        judged: the branches of judged code.
        results: of all tasks.

    Returns:
        The results that have changed.
    """
    for further in range(1, FURTHER + 1):
        branches = unreached(judged, sandbox.reached, results)
        components = {branch.component for branch in branches if not branch.outcome.only_stops}
        passed = [one.task for one in results if one.state == State.PASSED]
        tasks = [task for task in passed if not components.isdisjoint(task.components)]
        if not tasks:
            break
        outcomes = grader.tests.draw_more([task.marker for task in tasks], seed + further)
        sandbox.check()
        judgements = [judge_task(task, outcomes[task.marker], grader.assignment.credit) for task in tasks]
        if changed := [result for result in judgements if result.state != State.PASSED]:
            return changed
    return []


def unreached(
    judged: JudgedCode, reached: Mapping[str, Collection[int]], results: Collection[TaskResult]
) -> list[Branch]:
    """What no test has reached of the components that pass; where one fails, its message comes first."""
    tasks = [result.task for result in results]
    passed = {result.task.number: result.state == State.PASSED for result in results}
    return [branch for branch in judged.branches(reached, passing_components(tasks, passed)) if branch.is_open]


def unjudged_in(
    judged: JudgedCode, reached: Mapping[str, Collection[int]], results: Collection[TaskResult], locate: Locate
) -> tuple[Unjudged, ...]:
    """The same, for the record."""
    return tuple(
        Unjudged(
            component=branch.component,
            place=locate(branch.module, branch.outcome.line),
            what=branch.what,
            only_raises=branch.outcome.only_stops,
        )
        for branch in unreached(judged, reached, results)
    )
