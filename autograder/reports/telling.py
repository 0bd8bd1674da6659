"""What a student reads about a record and one part of it, in order; every report has it from here."""

from __future__ import annotations

from dataclasses import dataclass

from ..grading.record import Part


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
    """A named misconception first, then the numbers and the lines of the student's code, a smallest case last."""
    said = [Passage(part.message), Passage(part.traceback)]
    if part.diagnosis:
        is_named = bool(part.diagnosis.fault)
        said.insert(0 if is_named else len(said), Passage(part.diagnosis.text, is_prose=is_named))
    return [passage for passage in said if passage.text]


def text_of(part: Part) -> str:
    """All of it as one text."""
    return "\n".join(passage.text for passage in passages_of(part))
