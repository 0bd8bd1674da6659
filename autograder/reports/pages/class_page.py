"""The class at a glance: whom a person should look at first, what the class got wrong, all marks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

from foundation.assignment_file import Assignment
from foundation.counting import as_threshold

from ...classroom.downloads import LAYOUTS
from ...classroom.marks import Mark
from ...classroom.results import Result
from ...classroom.roll import Roll
from ...diagnosis.catalogue import Fault
from ...grading.record import Record
from ...grading.states import State
from ..class_summary import scores_of, tasks_of
from .pictures import highest_bleu, histogram, intervals, spacing

BORDERLINE = 3


@dataclass(frozen=True)
class Case:
    """A submission to look at.

    Attributes:
        key: of the submission.
        urgency: 0 = first, BORDERLINE = last.
        reasons: one line each.
    """

    key: str
    urgency: int
    reasons: tuple[str, ...]


def cases(
    records: Mapping[str, Record], marks: Mapping[str, Sequence[Mark]], thresholds: Mapping[str, float]
) -> list[Case]:
    """All submissions that a person should look at, the most urgent first; marks by the submission's key."""
    found = []
    for key, record in records.items():
        own = marks[key]
        reasons = [*_undecided(record, own), *_late(own), *_internals(record)]
        reasons += _noted(record)
        reasons += _borderline(record, thresholds)
        if reasons:
            found.append(Case(key, min(urgency for urgency, _ in reasons), tuple(text for _, text in reasons)))
    return sorted(found, key=lambda case: (case.urgency, case.key))


def _undecided(record: Record, marks: Sequence[Mark]) -> list[tuple[int, str]]:
    decided = [{one.part.number for one in mark.parts if one.by_hand} for mark in marks]
    parts = [part for part in record.judgement.parts if any(part.number not in one for one in decided)]
    if not record.has_ended and any(not part.state.has_mark for part in parts):
        return [(0, f"grading did not finish: {record.run.error or 'it was stopped'}")]
    reasons = []
    for state in reversed(State):
        titles = [part.title for part in parts if part.state is state]
        if state.needs_a_look and titles:
            what = record.judgement.refusal or ", ".join(titles)
            reasons.append((int(state.has_mark), f"{state.value}: {what}"))
    return reasons


def _late(marks: Sequence[Mark]) -> list[tuple[int, str]]:
    return [(0, why) for why in dict.fromkeys(mark.lateness.unknown for mark in marks) if why]


def _internals(record: Record) -> list[tuple[int, str]]:
    return [(1, f"internals: {use}") for use in record.judgement.internals]


def _noted(record: Record) -> list[tuple[int, str]]:
    return [(2, note) for note in record.run.notes]


def _borderline(record: Record, thresholds: Mapping[str, float]) -> list[tuple[int, str]]:
    if not (bleu := record.judgement.bleu):
        return []
    interval = f"the interval is {bleu.low:.3f} to {bleu.high:.3f}"
    return [
        (BORDERLINE, f"BLEU {bleu.value:.3f} is close to {name}, {as_threshold(value)}: {interval}")
        for name, value in thresholds.items()
        if bleu.low < value < bleu.high
    ]


@dataclass(frozen=True)
class Misconception:
    """A misconception that the diagnosis has named.

    Attributes:
        fault: in the catalogue.
        title: of the task.
        keys: of the submissions that have it.
    """

    fault: Fault
    title: str
    keys: tuple[str, ...]


def ranked(records: Mapping[str, Record], catalogue: Mapping[str, Fault]) -> list[Misconception]:
    """All named misconceptions; of equally frequent ones the earlier task first.

    Args:
        records: of the class.
        catalogue: faults by id; what is no longer in it is left out.
    """
    keys: dict[str, dict[str, None]] = defaultdict(dict)
    titles = {}
    for key, record in records.items():
        for part in record.judgement.parts:
            titles[part.number] = part.title
            if part.diagnosis and part.diagnosis.fault in catalogue:
                keys[part.diagnosis.fault][key] = None  # once, even where two tasks show it
    tasks = {id_: catalogue[id_].task for id_ in keys}  # of today: records may wait that know other numbers
    found = [Misconception(catalogue[id_], titles.get(task, task), tuple(keys[id_])) for id_, task in tasks.items()]
    return sorted(found, key=lambda one: (-len(one.keys), one.fault.task, one.fault.id))


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
    scores = scores_of(one for same in results.values() for one in same)
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
        "tasks": tasks_of(records.values()),
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
