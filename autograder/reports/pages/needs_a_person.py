"""Whom a person should look at first, and why: what the grader could not decide comes before what it could."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...grading.record import Record
from ...grading.states import State

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


def cases(records: Mapping[str, Record], thresholds: Mapping[str, float]) -> list[Case]:
    """All submissions that a person should look at, the most urgent first."""
    found = []
    for key, record in records.items():
        reasons = [*_undecided(record), *_internals(record), *_noted(record), *_borderline(record, thresholds)]
        if reasons:
            found.append(Case(key, min(urgency for urgency, _ in reasons), tuple(text for _, text in reasons)))
    return sorted(found, key=lambda case: (case.urgency, case.key))


def _undecided(record: Record) -> list[tuple[int, str]]:
    if not record.has_ended:
        return [(0, f"grading did not finish: {record.run.error or 'it was stopped'}")]
    parts = record.judgement.parts
    reasons = []
    for state in reversed(State):
        titles = [part.title for part in parts if part.state is state]
        if state.needs_a_look and titles:
            reasons.append((int(state.has_mark), f"{state.value}: {', '.join(titles)}"))
    return reasons


def _internals(record: Record) -> list[tuple[int, str]]:
    return [(1, f"internals: {use}") for use in record.judgement.internals]


def _noted(record: Record) -> list[tuple[int, str]]:
    return [(2, note) for note in record.run.notes]


def _borderline(record: Record, thresholds: Mapping[str, float]) -> list[tuple[int, str]]:
    if not (bleu := record.judgement.bleu):
        return []
    return [
        (
            BORDERLINE,
            f"BLEU {bleu.value:.3f} is close to {name}, {value:.2f}: the interval is {bleu.low:.3f} to {bleu.high:.3f}",
        )
        for name, value in thresholds.items()
        if bleu.low < value < bleu.high
    ]
