"""Lines of submitted code, as pages show them."""

from __future__ import annotations

from dataclasses import dataclass

from foundation.printable_text import printable

MOST_CHARACTERS = 150
"""Of a line."""


@dataclass(frozen=True)
class CodeLine:
    """A line of an excerpt.

    Attributes:
        number: as the student's editor shows it; "" for what is left out.
        text: of the line.
        is_marked: whether the excerpt is shown for its sake.
    """

    number: str
    text: str
    is_marked: bool = False


@dataclass(frozen=True)
class Excerpt:
    """Some lines of one file, or of one cell of a notebook; the title says of which."""

    title: str
    lines: tuple[CodeLine, ...]


def code_line(text: str, most: int = MOST_CHARACTERS) -> str:
    """A line as it is shown: tabs as spaces, nothing unprintable, and not too long."""
    return printable(text.rstrip("\r").expandtabs(4), most)
