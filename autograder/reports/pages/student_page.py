"""One student's result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foundation.assignment_file import Assignment
from foundation.texts import counted

from ...classroom.marks import Result
from ...grading.record import Part, Record
from ...testing.results import State
from ..terminal import details_of
from .pictures import bleu_picture


@dataclass(frozen=True)
class Task:
    """A task as the page shows it, with the texts of the grader, and what people have decided and said.

    What was lost is open, what passed only after a click. There is no score where there is none yet, or where partners
    have different ones, which are in `said`.
    """

    part: Part
    state: str
    is_open: bool
    n_passed: int
    details: list[str]
    said: tuple[str, ...] = ()
    score: float | None = None


def student_view(record: Record, assignment: Assignment, results: Sequence[Result]) -> dict[str, object]:
    """What the template `student.html` shows of a record, and of the students who share it."""
    judgement = record.judgement
    return {
        "title": assignment.title,
        "record": record,
        "judgement": judgement,
        "written": {task.number for task in assignment.tasks if task.written},
        "tasks": [task_of(part, results, bool(judgement.refusal)) for part in judgement.parts],
        "scores": scores_of(results),
        "said": [line for result in results for line in said_of(result, len(results) > 1)],
        **bleu_picture({"": record}, assignment),
    }


def task_of(part: Part, results: Sequence[Result], is_refused: bool) -> Task:
    """The task of a part; of a submission that was refused as a whole, a note says why, once."""
    n_passed = sum(test.state is State.PASSED for test in part.tests)
    marks = [(result, one) for result in results if result.mark for one in result.mark.parts]
    marks = [(result, one) for result, one in marks if one.part.number == part.number]
    said = []
    for result, one in marks:
        name = f"{result.member.name}: " if len(results) > 1 else ""
        if one.by_hand:
            said.append(f"{name}{counted(one.by_hand.value or 0, 'point')} by hand: {one.by_hand.text}")
        if one.comment:
            said.append(f"{name}{one.comment.text}")
    scores = {one.score for _, one in marks}
    is_lost = part.state is not State.PASSED and not part.extension and not is_refused
    is_open = bool(said) or is_lost or part.state is State.NEEDS_READER
    state = (
        "by hand" if marks and not part.state.has_mark and all(one.by_hand for _, one in marks) else part.state.value
    )
    score = scores.pop() if len(scores) == 1 else None
    return Task(part, state, is_open, n_passed, details_of(part), tuple(said), score)


def scores_of(results: Sequence[Result]) -> list[tuple[str, float | None]]:
    """Names with scores: one without a name, unless those who share the submission have different ones."""
    found = [(result.member.name, result.score) for result in results]
    return [("", found[0][1])] if len({score for _, score in found}) == 1 else found


def said_of(result: Result, is_named: bool) -> list[str]:
    """What lateness costs a student, and what people have said about the whole, a line each."""
    if result.mark is None:
        return []
    late, lines = result.mark.lateness, []
    if late.unknown:
        when = "Handed in late" if result.member.is_late else "It is not known when this was handed in"
        lines.append(f"{when}; what that costs is not decided yet.")
    if late.days:
        earned = "points" if result.mark.earned is None else counted(result.mark.earned, "point")
        lines.append(f"{counted(late.days, 'day')} late: {late.percent:g}% of the {earned} earned is taken off.")
    lines += [f"Late days by hand: {late.by_hand.text}"] if late.by_hand else []
    lines += [result.mark.comment.text] if result.mark.comment else []
    return [f"{result.member.name}: {line}" for line in lines] if is_named else lines
