"""What the model does whose checkpoint was handed in with the code; no points depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from foundation.assignment_file import Assignment

from ..assignment_parts import learned_model_of
from ..sandbox.errors import SandboxUnavailableError
from ..testing.results import TaskResult
from .record import AttentionMap, Curve, Learned
from .trainability import missing_for


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
