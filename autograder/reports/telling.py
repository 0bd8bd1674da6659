"""What a student reads about a record and one part of it, in order; every report has it from here."""

from __future__ import annotations

from dataclasses import dataclass

from ..grading.record import Judgement, Part
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
    """A named misconception first, then the numbers and the lines of the student's code, a smallest case last."""
    said = [Passage(part.message), Passage(part.traceback)]
    if part.diagnosis:
        is_named = bool(part.diagnosis.fault)
        said.insert(0 if is_named else len(said), Passage(part.diagnosis.text, is_prose=is_named))
    return [passage for passage in said if passage.text]


def text_of(part: Part) -> str:
    """All of it as one text."""
    return "\n".join(passage.text for passage in passages_of(part))


def refusal_of(judgement: Judgement) -> str:
    """Why a submission was refused as a whole; "" where it was not, or for several reasons."""
    reasons = {part.message for part in judgement.parts}
    is_refused = all(part.state is State.REFUSED for part in judgement.parts)
    return reasons.pop() if is_refused and len(reasons) == 1 else ""
