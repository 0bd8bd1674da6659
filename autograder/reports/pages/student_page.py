"""One student's result."""

from __future__ import annotations

from dataclasses import dataclass

from foundation.assignment_file import Assignment

from ...grading.record import Part, Record
from ...grading.states import State
from ..telling import Passage, passages_of
from .charts import highest_bleu, intervals


@dataclass(frozen=True)
class Task:
    """A task as the page shows it.

    Attributes:
        part: of the record.
        is_open: what was lost is shown at once, what passed only on a click.
        n_passed: tests that pass.
        passages: what is said about it.
    """

    part: Part
    is_open: bool
    n_passed: int
    passages: list[Passage]


def student_view(record: Record, assignment: Assignment) -> dict[str, object]:
    """What the template `student.html` shows."""
    judgement = record.judgement
    bleu_top = highest_bleu({"": record}, assignment.thresholds)
    return {
        "title": assignment.title,
        "record": record,
        "judgement": judgement,
        "tasks": [task_of(part) for part in judgement.parts],
        "interval": next(iter(intervals({"": record}, bleu_top)), None),
        "bleu_top": bleu_top,
        "thresholds": {name: 100 * value / bleu_top for name, value in assignment.thresholds.items()},
        "threshold_values": assignment.thresholds,
    }


def task_of(part: Part) -> Task:
    """The task of a part."""
    n_passed = sum(test.state is State.PASSED for test in part.tests)
    is_open = part.state is not State.PASSED and not part.extension
    return Task(part, is_open, n_passed, passages_of(part))
