"""Weighs stored outcomes anew, after a change of points, thresholds, credit or titles. Nothing is run.

What comes out is what grading would give now: the states of all tests and BLEU are in the record, and decide.
"""

from __future__ import annotations

from foundation.assignment_file import Assignment, Task

from ...grading.grader_version import weighting_of
from ...grading.marks import partial
from ...grading.record import Bleu, Judgement, Part
from ...grading.recording import with_parts
from ...grading.states import State
from ...scoring import Measured, explain, judge


def weighed(judgement: Judgement, assignment: Assignment) -> Judgement:
    """The judgement with the points, thresholds and titles of the assignment.

    Args:
        judgement: whose tasks and components are those of the assignment: of its `grader_version`.
        assignment: as it is now.
    """
    known = {part.number: part for part in judgement.parts}
    parts = [_part(known[task.number], task, judgement.bleu, assignment) for task in assignment.tasks]
    return with_parts(judgement, parts).changed(
        assignment=assignment.title, weighting=weighting_of(assignment), max_score=assignment.max_score
    )


def _part(part: Part, task: Task, bleu: Bleu | None, assignment: Assignment) -> Part:
    part = part.changed(
        title=task.title, points=task.points, extension=task.extension, visibility=task.visibility
    ).in_state(part.state)
    if task.threshold and bleu and part.state in (State.PASSED, State.FAILED):
        measured = Measured(bleu.value, bleu.low, bleu.high, bleu.sentences)
        [verdict] = judge(measured, {task.threshold: assignment.thresholds[task.threshold]})
        state = State.PASSED if verdict.is_reached else State.FAILED
        part = part.in_state(state, message=explain(verdict, measured))
    if part.state is State.PASSED:
        return part.in_state(part.state, task.points)
    if not part.tests or part.state is State.REFUSED:
        return part
    missed = [test for test in part.tests if test.state is not State.PASSED]
    misses_core = any(test.core for test in missed)
    score = partial(task.points, assignment.credit, len(missed), len(part.tests), misses_core)
    return part.in_state(part.state, score)
