"""Judges a student's answers about bug hunts (E.7): in the sandbox, on the code that was handed in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.assignment_file import Task

from ..intake.modules import Intake
from ..sandbox.errors import SubmissionError, SubmissionTimeoutError
from ..sandbox.submission import Sandbox
from ..testing.results import CheckFailed, Outcome, State, TaskResult, judge_task
from .bench import Component
from .hunts import SEED, Hunt, answer_of, draw_hunt, hunted, student_of

if TYPE_CHECKING:
    from ..grading.judging import Grader

Hunts = dict[str, Hunt | str]
"""Hunts by task number; for a component without one, the reason."""


def judge_hunts(intake: Intake, task: Task, grader: Grader) -> TaskResult:
    """Judge a task about hunts. Raises: SandboxUnavailableError where the machine cannot contain the submission."""
    module = task.components[0].partition(".")[0]
    if module not in intake.submitted:
        return TaskResult(task, State.NOT_ATTEMPTED, 0.0, f"{module}.py was not handed in")
    try:
        student = student_of(task.components[0], intake.sources)
        hunts = {number: _drawn(number, name, student, intake, grader) for number, name in hunted(grader.assignment)}
        contents = [hunt.content for hunt in hunts.values() if isinstance(hunt, Hunt)]
        with Sandbox(intake.sources, grader.assignment, zygote=grader.zygote, locate=intake.locate) as sandbox:
            answers = sandbox.apply("find", task.components[0], contents, isolated=False)
    except NotImplementedError as error:
        return TaskResult(task, State.NOT_ATTEMPTED, 0.0, str(error))
    except CheckFailed as error:
        return TaskResult(task, State.FAILED, 0.0, str(error))
    except SubmissionError as error:
        state = State.TIMEOUT if isinstance(error, SubmissionTimeoutError) else State.ERROR
        return TaskResult(task, state, 0.0, f"{module}.py: {error}", traceback=error.student_traceback)
    outcomes = [_judged(item.name, hunts, answers) for item in task.items]
    return judge_task(task, outcomes, grader.assignment.credit)


def _drawn(number: str, component: str, student: str, intake: Intake, grader: Grader) -> Hunt | str:
    versions = Component(component, intake, grader, SEED)
    if component.partition(".")[0] not in intake.submitted:
        return f"{versions.title} was not handed in"
    if not versions.works:
        return f"your {versions.title} does not pass the tests of {number}: a hunt is made of code that does"
    hunt = draw_hunt(number, versions, student, grader.assignment)
    return hunt or f"no change of your {versions.title} makes a hunt"


def _judged(item: str, hunts: Hunts, answers: object) -> Outcome:
    number, _, part = item.partition(": ")
    hunt, state, message = hunts[number], State.PASSED, ""
    try:
        if isinstance(hunt, str):
            raise CheckFailed(hunt)
        hunt.check(part, answer_of(hunt, answers))
    except CheckFailed as error:
        state, message = State.FAILED, str(error)
    except NotImplementedError as error:
        state, message = State.NOT_ATTEMPTED, str(error)
    return Outcome(item, state, message, item, nodeid=f"hunts::{item}")
