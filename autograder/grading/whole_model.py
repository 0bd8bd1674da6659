"""What a submission does as a whole: its translations, judged by BLEU; does it learn; what does its model look at?

No points depend on the last two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from foundation.assignment_file import Assignment

from ..assignment_parts import learned_model_of, training_check_of
from ..intake import TRANSLATIONS, Intake
from ..sandbox.errors import SandboxUnavailableError
from ..scoring import Score, ScoringError, explain, judge, parse_translations, read_references, score
from ..testing.case import Case
from ..testing.results import State, TaskResult
from .record import AttentionMap, Bleu, Curve, Learned, Training
from .recording import Event, Found, Noted, TasksJudged

HOPELESS = ("not attempted", "refused", "timeout", "out of memory", "grader error")
"""If a required task is in one of these states, training is skipped."""


def judge_translations(intake: Intake, assignment: Assignment, references: Path) -> Iterator[Event]:
    """Scores the translations against the references, `source|||target` lines."""
    tasks = [task for task in assignment.tasks if task.threshold]

    def all_in(state: State, message: str) -> TasksJudged:
        return TasksJudged(tuple(TaskResult(task, state, 0.0, message) for task in tasks))

    if intake.translations_problem:
        yield all_in(State.NOT_GRADED, intake.translations_problem)
        return
    if intake.translations is None:
        message = f"no {TRANSLATIONS}: expected one line for each test sentence, in order"
        yield all_in(State.NOT_ATTEMPTED, message)
        return
    try:
        targets = read_references(references)
    except ScoringError as error:
        yield all_in(State.GRADER_ERROR, f"the references cannot be read: {error}")
        return
    notes: list[str] = []
    try:
        lines = parse_translations(intake.translations, TRANSLATIONS, expected=len(targets), note=notes.append)
        found = score(lines, targets, with_chrf=False)
    except ScoringError as error:
        yield from map(Noted, notes)
        yield all_in(State.ERROR, str(error))
        return
    yield from map(Noted, notes)
    yield Found({"bleu": bleu_of(found)})
    results = []
    for task in tasks:
        name = task.threshold or ""
        [verdict] = judge(found, {name: assignment.thresholds[name]})
        state, points = (State.PASSED, task.points) if verdict.is_reached else (State.FAILED, 0.0)
        results.append(TaskResult(task, state, points, explain(verdict, found)))
    yield TasksJudged(tuple(results))


def bleu_of(score: Score) -> Bleu:
    """BLEU as it stands in the record."""
    return Bleu(value=score.bleu, low=score.low, high=score.high, sentences=score.n, signature=score.signature)


def missing_for(results: Sequence[TaskResult]) -> str:
    """Why a submission with these results cannot be trained; "" where it can."""
    needed = [result for result in results if result.task.components and not result.task.extension]
    for result in needed:
        if result.state in HOPELESS:
            return f"{result.task.number} {result.task.title} ended as `{result.state}`"
    return ""


def try_training(
    submission: Any, assignment: Assignment, results: Sequence[TaskResult] = (), seed: int = 0
) -> Training:
    """Trains a submission and tests it; returns a verdict whatever the submission does.

    Args:
        submission: with the methods of a sandboxed one, whose limits hold here too.
        assignment: whose training check runs.
        results: of the tasks; a submission with a part that cannot run is not tried.
        seed: for the data and the initial values of the parameters.

    Raises:
        SandboxUnavailableError: for a fault of the grader.
    """
    check = training_check_of(assignment)
    reason = missing_for(results) if check else "the assignment has no training check"
    if check is None or reason:
        return Training(state="not run", message=reason, accuracy=None, losses=())
    losses: list[float] = []
    accuracy = None
    state: Literal["passed", "failed", "error"] = "passed"
    message = ""
    try:
        accuracy = check.train_and_test(submission, Case(seed, "trainability"), losses)
        if accuracy < check.ENOUGH:
            state, message = "failed", check.explain(losses, accuracy)
    except SandboxUnavailableError:
        raise
    except Exception as error:  # the submission's, or ours over an answer of an unexpected kind
        state, message = "error", f"{kind_of(error)}: {error}\n{getattr(error, 'student_traceback', '')}".rstrip()
    finite = tuple(round(loss, 4) if math.isfinite(loss) else None for loss in losses)
    return Training(state=state, message=message, accuracy=accuracy, losses=finite)


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
        return Learned(message=f"{kind_of(error)}: {error}")


def kind_of(error: Exception) -> str:
    """The kind of an error, as a student knows it."""
    return type(error).__name__.removeprefix("Submission").removesuffix("Error")
