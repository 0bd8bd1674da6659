"""Does the whole submission learn? Runs the assignment's training check; no points depend on it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from foundation.assignment_file import Assignment

from ..assignment_parts import training_check_of
from ..sandbox.errors import SandboxUnavailableError
from ..testing.case import Case
from ..testing.results import TaskResult

HOPELESS = ("not attempted", "refused", "timeout", "out of memory", "grader error")
"""If a required task is in one of these states, training is skipped."""


@dataclass(frozen=True)
class Trainability:
    """The verdict on the whole.

    Attributes:
        state: "passed", "failed" (it ran and did not learn), "error" (an exception, or too slow) or "not run".
        message: the reason, for the student.
        accuracy: the share of new examples that were right; None where training did not end.
        losses: mean training loss of each epoch.
        seconds: CPU time of this process and the worker together.
    """

    state: str
    message: str
    accuracy: float | None = None
    losses: tuple[float, ...] = ()
    seconds: float = 0.0


def missing_for(results: Sequence[TaskResult]) -> str:
    """Why a submission with these results cannot be trained; "" where it can."""
    needed = [result for result in results if result.task.components and not result.task.extension]
    for result in needed:
        if result.state in HOPELESS:
            return f"{result.task.number} {result.task.title} ended as `{result.state}`"
    return ""


def try_training(submission: Any, assignment: Assignment, seed: int = 0, **options: Any) -> Trainability:
    """Trains a submission and tests it; returns a verdict whatever the submission does.

    Args:
        submission: with the methods of a sandboxed one, whose limits hold here too.
        assignment: whose training check runs.
        seed: for the data and the initial values of the parameters.
        options: for the check.

    Raises:
        SandboxUnavailableError: for a fault of the grader.
    """
    check = training_check_of(assignment)
    if check is None:
        return Trainability("not run", "the assignment has no training check")
    started = time.process_time(), getattr(submission, "cpu_seconds", 0.0)
    losses: list[float] = []
    accuracy = None
    try:
        accuracy = check.train_and_test(submission, Case(seed, "trainability"), losses, **options)
        good = accuracy >= check.ENOUGH
        state, message = ("passed", "") if good else ("failed", check.explain(losses, accuracy))
    except SandboxUnavailableError:
        raise
    except Exception as error:  # the submission's, or ours over an answer of an unexpected kind
        state, message = "error", f"{type(error).__name__.removeprefix('Submission').removesuffix('Error')}: {error}"
        message = f"{message}\n{getattr(error, 'student_traceback', '')}".rstrip()
    spent = time.process_time() - started[0] + getattr(submission, "cpu_seconds", 0.0) - started[1]
    return Trainability(state, message, accuracy, tuple(losses), round(spent, 2))
