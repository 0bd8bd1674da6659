"""What a regrade would change: who, by how much, and because of which test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...grading.record import Judgement, Part
from ...grading.states import State

MOST_TESTS = 3
"""How many tests are named for a part."""


@dataclass(frozen=True)
class PartChange:
    """A part whose mark is another one.

    Attributes:
        number: of the task.
        title: likewise.
        before: points; None where there were none yet, or no such part.
        after: likewise.
        reasons: tests that end otherwise than before, new points, or a new BLEU; empty where only messages differ.
    """

    number: str
    title: str
    before: float | None
    after: float | None
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A submission whose mark is another one.

    Attributes:
        before: points in all; None where a person had to decide.
        after: likewise.
        parts: those that differ.
    """

    before: float | None
    after: float | None
    parts: tuple[PartChange, ...]


def change_of(old: Judgement, new: Judgement) -> Change | None:
    """What is different in the marks of two judgements of one submission; None where nothing is."""
    parts = tuple(_part_changes(old, new))
    if not parts and (old.score, old.max_score) == (new.score, new.max_score):
        return None
    return Change(old.score, new.score, parts)


def _part_changes(old: Judgement, new: Judgement) -> Iterator[PartChange]:
    before, after = ({part.number: part for part in one.parts} for one in (old, new))
    for number in dict.fromkeys((*before, *after)):
        was, is_now = before.get(number), after.get(number)
        if _worth(was) != _worth(is_now):
            reasons = tuple(_reasons(was, is_now, old, new))
            title = (is_now or was or new.parts[0]).title
            old_score, new_score = (None if part is None else part.score for part in (was, is_now))
            yield PartChange(number, title, old_score, new_score, reasons)


def _worth(part: Part | None) -> tuple[float | None, float] | None:
    return None if part is None else (part.score, part.points)


def _reasons(was: Part | None, is_now: Part | None, old: Judgement, new: Judgement) -> Iterator[str]:
    if was is None or is_now is None:
        yield "a new task" if was is None else "no task any more"
        return
    if was.points != is_now.points:
        yield f"worth {was.points:g} points before, {is_now.points:g} now"
    states = [{test.nodeid: (test.name, test.state) for test in part.tests} for part in (was, is_now)]
    tests = list(_test_changes(*states))
    yield from tests[:MOST_TESTS]
    if len(tests) > MOST_TESTS:
        yield f"and {len(tests) - MOST_TESTS} more tests"
    if not was.components and old.bleu != new.bleu:
        values = ("none" if one is None else f"{one.value:.4f}" for one in (old.bleu, new.bleu))
        yield f"BLEU {' → '.join(values)}"
    elif not was.components and was.state != is_now.state:
        yield f"the threshold: {was.state} → {is_now.state}"
    elif was.state != is_now.state and not tests:
        yield f"{was.state} → {is_now.state}"


def _test_changes(before: dict[str, tuple[str, State]], after: dict[str, tuple[str, State]]) -> Iterator[str]:
    for test in dict.fromkeys((*before, *after)):
        was, is_now = before.get(test), after.get(test)
        if was is None and is_now is not None:
            yield f"{is_now[0]}: new, {is_now[1]}"
        elif was is not None and is_now is None:
            yield f"{was[0]}: {was[1]} → no test any more"
        elif was is not None and is_now is not None and was[1] != is_now[1]:
            yield f"{is_now[0]}: {was[1]} → {is_now[1]}"
