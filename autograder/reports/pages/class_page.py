"""The class at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, median

from foundation.assignment_file import Assignment

from ...classroom.downloads import PLATFORM_NAMES
from ...classroom.roll import Roll
from ...diagnosis.catalogue import Fault
from ...grading.record import Record
from ...grading.states import State
from .charts import highest_bleu, histogram, intervals, spacing
from .misconceptions import ranked
from .needs_a_person import BORDERLINE, cases


@dataclass(frozen=True)
class TaskSuccess:
    """How the class did in one task.

    Attributes:
        number: of the task.
        title: likewise.
        points: what it is worth.
        mean: of the points, over the submissions that have a mark there.
        full: share of these submissions with all points, in percent.
        partial: with some, likewise.
        states: how many submissions are in which state.
    """

    number: str
    title: str
    points: float
    mean: float
    full: float
    partial: float
    states: Mapping[State, int]


def class_view(
    records: Mapping[str, Record], assignment: Assignment, catalogue: Mapping[str, Fault]
) -> dict[str, object]:
    """What the template `class.html` shows.

    Args:
        records: by key; at least one.
        assignment: its title and thresholds.
        catalogue: misconceptions by id.
    """
    judgements = [record.judgement for record in records.values()]
    scores = [record.judgement.score for record in records.values() if not record.needs_the_grader]
    top = judgements[0].max_score
    bleu_top = highest_bleu(records, assignment.thresholds)
    seconds = {key: record.run.seconds for key, record in records.items()}
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:5]
    looked_at = cases(records, assignment.thresholds)
    finished = [record.run.finished for record in records.values() if record.run.finished]
    return {
        "title": assignment.title,
        "n": len(records),
        "top": top,
        "mean": mean(scores) if scores else None,
        "median": median(scores) if scores else None,
        "cases": [case for case in looked_at if case.urgency < BORDERLINE],
        "borderline": [case for case in looked_at if case.urgency == BORDERLINE],
        "bins": histogram(scores, top),
        "tasks": success(records),
        "misconceptions": ranked(records, catalogue),
        "intervals": intervals(records, bleu_top),
        "spacing": spacing(len(records)),
        "bleu_top": bleu_top,
        "thresholds": {name: 100 * value / bleu_top for name, value in assignment.thresholds.items()},
        "threshold_values": assignment.thresholds,
        "seconds": {"median": median(seconds.values()), "all": sum(seconds.values()), "slowest": slowest},
        "last": max(finished, default=None),
    }


def roll_view(roll: Roll) -> dict[str, object]:
    """What the template `class.html` shows about students and entries of the download without a mark."""
    what = "several submissions, and nothing tells which one counts: "
    undecided = [(member.name, what + ", ".join(member.undecided)) for member in roll.members if member.undecided]
    undecided += [(one.entry, one.reason) for one in roll.left_out if one.needs_decision]
    return {
        "platform": PLATFORM_NAMES.get(roll.layout, roll.layout),
        "undecided": undecided,
        "n_late": sum(bool(member.is_late) for member in roll.members),
        "missing": roll.missing,
        "left_out": [one for one in roll.left_out if not one.needs_decision],
    }


def success(records: Mapping[str, Record]) -> list[TaskSuccess]:
    """How the class did in each task, in the assignment's order."""
    rows = []
    for same in zip(*(record.judgement.parts for record in records.values()), strict=True):
        first = same[0]
        scores = [part.score for part in same if part.state.has_mark]
        n_full = sum(part.state is State.PASSED for part in same)
        n_partial = sum(part.state is not State.PASSED and part.score > 0 for part in same)
        rows.append(
            TaskSuccess(
                number=first.number,
                title=first.title,
                points=first.points,
                mean=mean(scores) if scores else 0.0,
                full=100 * n_full / max(len(scores), 1),
                partial=100 * n_partial / max(len(scores), 1),
                states=Counter(part.state for part in same),
            )
        )
    return rows
