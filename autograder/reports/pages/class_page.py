"""The class at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from foundation.assignment_file import Assignment

from ...classroom.downloads import LAYOUTS
from ...classroom.marks import Mark
from ...classroom.results import Result, by_task
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
        mean: of the points, over the submissions that have a mark there; None where none has.
        full: share of these submissions with all points, in percent.
        partial: with some, likewise.
        states: how many submissions are in which state.
    """

    number: str
    title: str
    points: float
    mean: float | None
    full: float
    partial: float
    states: Mapping[State, int]


def class_view(
    records: Mapping[str, Record],
    results: Mapping[str, Sequence[Result]],
    assignment: Assignment,
    catalogue: Mapping[str, Fault],
) -> dict[str, object]:
    """What the template `class.html` shows.

    Args:
        records: by key; at least one.
        results: of the students, by the key of their submission.
        assignment: its title and thresholds.
        catalogue: misconceptions by id.
    """
    judgements = [record.judgement for record in records.values()]
    marks = {key: [one.mark for one in results[key] if one.mark] for key in records}
    scores = [score for same in marks.values() for score in shown_scores(same) if score is not None]
    top = judgements[0].max_score
    bleu_top = highest_bleu(records, assignment.thresholds)
    seconds = {key: record.run.seconds for key, record in records.items()}
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:5]
    looked_at = cases(records, marks, assignment.thresholds)
    finished = [record.run.finished for record in records.values() if record.run.finished]
    return {
        "title": assignment.title,
        "n": len(records),
        "n_scores": len(scores),
        "shown": {key: shown_scores(same) for key, same in marks.items()},
        "changed": {key: {p.part.number for m in same for p in m.parts if p.by_hand} for key, same in marks.items()},
        "scores": scores_by_task(marks),
        "parts": {key: {part.number: part for part in one.judgement.parts} for key, one in records.items()},
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
        "platform": LAYOUTS[roll.layout].title if roll.layout in LAYOUTS else roll.layout,
        "undecided": undecided,
        "n_late": sum(bool(member.is_late) for member in roll.members),
        "missing": roll.missing,
        "left_out": [one for one in roll.left_out if not one.needs_decision],
    }


def shown_scores(marks: Sequence[Mark]) -> list[float | None]:
    """The different scores of those who share a submission; None for those without one."""
    return list(dict.fromkeys(mark.score for mark in marks))


def scores_by_task(marks: Mapping[str, Sequence[Mark]]) -> dict[str, dict[str, list[float | None]]]:
    """The different points of those who share a submission, by key and the number of the task."""
    found: dict[str, dict[str, list[float | None]]] = {}
    for key, same in marks.items():
        of_tasks = found.setdefault(key, {})
        for one in (part for mark in same for part in mark.parts):
            scores = of_tasks.setdefault(one.part.number, [])
            scores += [one.score] if one.score not in scores else []
    return found


def success(records: Mapping[str, Record]) -> list[TaskSuccess]:
    """How the class did in each task, in the assignment's order."""
    rows = []
    for same in by_task(records.values()):
        first = same[0]
        scores = [part.score for part in same if part.score is not None]
        n_full = sum(part.state is State.PASSED for part in same)
        n_partial = sum(part.state is not State.PASSED and bool(part.score) for part in same)
        rows.append(
            TaskSuccess(
                number=first.number,
                title=first.title,
                points=first.points,
                mean=mean(scores) if scores else None,
                full=100 * n_full / max(len(scores), 1),
                partial=100 * n_partial / max(len(scores), 1),
                states=Counter(part.state for part in same),
            )
        )
    return rows
