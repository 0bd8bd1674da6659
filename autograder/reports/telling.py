"""What a student reads about a record and one part of it, in order; every report has it from here."""

from __future__ import annotations

from dataclasses import dataclass

from ..grading.record import Part
from ..grading.states import State


@dataclass(frozen=True)
class Passage:
    """A piece of the text.

    Attributes:
        text: of one or more lines.
        is_prose: sentences, as opposed to lines with numbers and code.
    """

    text: str
    is_prose: bool = False


def passages_of(part: Part) -> list[Passage]:
    """A named misconception first, then the rubric, the numbers and lines of code, a smallest case last."""
    said = [Passage(rubric_of(part)), Passage(part.message), Passage(part.traceback)]
    if part.diagnosis:
        is_named = bool(part.diagnosis.fault)
        said.insert(0 if is_named else len(said), Passage(part.diagnosis.text, is_prose=is_named))
    return [passage for passage in said if passage.text]


def rubric_of(part: Part) -> str:
    """The rubric of a part that is neither whole nor empty, a line an item: "✗ masks: 0 of 4"."""
    if part.state is State.PASSED or not any(item.score or not item.missed for item in part.items):
        return ""
    lines = []
    for item in part.items:
        is_earned = not item.missed and not item.requires
        points = f": {item.score:.3g} of {item.points:.3g}" if part.points else ""
        why = f", worth nothing without “{item.requires}”" if item.requires and not item.missed else ""
        lines.append(f"{'✓' if is_earned else '✗'} {item.name}{points}{why}")
    return "\n".join(lines)


def text_of(part: Part) -> str:
    """All of it as one text."""
    return "\n".join(passage.text for passage in passages_of(part))
