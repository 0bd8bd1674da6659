"""What a submission does as a whole: does it learn, and what does the model of its checkpoint look at?

No points depend on either.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from foundation.assignment_file import Assignment

from ..assignment_parts import learned_model_of, training_check_of
from ..sandbox.errors import SandboxUnavailableError
from ..testing.case import Case
from ..testing.results import TaskResult
from .record import AttentionMap, Curve, Learned

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


def show_learned(
    submission: Any, content: bytes, assignment: Assignment, results: Sequence[TaskResult]
) -> Learned | None:
    """Pictures of the model, or why there are none; None where the assignment shows none.

    Args:
        submission: with the methods of a sandboxed one; it opens the checkpoint, and nothing on this side does.
        content: of the checkpoint.
        assignment: whose `learned_model.py` looks.
        results: of the tasks; a model with a part that cannot run is not tried.

    Raises:
        SandboxUnavailableError: for a fault of the grader.
    """
    learned_model = learned_model_of(assignment)
    if learned_model is None:
        return None
    if reason := missing_for(results):
        return Learned(message=reason)
    try:
        maps, curves = learned_model.look(submission, content)
        return Learned(
            message="",
            maps=tuple(
                AttentionMap(title=one.title, rows=one.rows, columns=one.columns, weights=one.weights) for one in maps
            ),
            curves=tuple(Curve(title=one.title, points=one.points) for one in curves),
        )
    except SandboxUnavailableError:
        raise
    except ValidationError:
        return Learned(message="the submission's answer was not valid")
    except Exception as error:  # the submission's, or ours over an answer of an unexpected kind
        kind = type(error).__name__.removeprefix("Submission").removesuffix("Error")
        return Learned(message=f"{kind}: {error}")
