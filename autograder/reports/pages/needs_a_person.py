"""Whom a person should look at first, and why: what the grader could not decide comes before what it could."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from foundation.counting import as_threshold

from ...classroom.marks import Mark
from ...grading.record import Record
from ...grading.states import State

BORDERLINE = 3
MOST_BRANCHES = 5


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
        reasons += [*_unjudged(record), *_noted(record)]
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


def _unjudged(record: Record) -> list[tuple[int, str]]:
    found = record.judgement.hiding_places
    more = [f"… and {len(found) - MOST_BRANCHES} more"] if len(found) > MOST_BRANCHES else []
    places = [f"{branch.place}: {branch.what}" for branch in found[:MOST_BRANCHES]]
    return [(1, f"no test reached: {text}") for text in places + more]


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
