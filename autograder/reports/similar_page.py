"""Similar submissions side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from foundation.assignment_file import Assignment

from ..classroom.entries import Roll
from ..classroom.similarity import Findings, Pair, Place, Written
from .html import CodeLine, Excerpt, code_line
from .pages import SIMILAR, others_in, pages_of, write_page

CONTEXT = 2
"""Lines shown around those that are shared."""
MOST_LINES = 80
MOST_CHARACTERS = 200
MOST_SHOWN = 40
"""Pairs whose code is shown; further ones are listed without it."""


def write_similar_page(
    findings: Findings, roll: Roll, written: Mapping[str, Written], assignment: Assignment, output: Path
) -> None:
    """Writes `similar.html`."""
    names = roll.names()
    view = {
        "title": assignment.title,
        "findings": findings,
        "shown": [(pair, list(sides_of(pair, written))) for pair in findings.pairs[:MOST_SHOWN]],
        "further": findings.pairs[MOST_SHOWN:],
        "names": {key: names.get(key, key) for key in written},
        "pages": pages_of(written, output),
    }
    write_page("similar.html", output / SIMILAR, view, **others_in(output))


def sides_of(pair: Pair, written: Mapping[str, Written]) -> Iterator[dict[str, object]]:
    """What a pair shares in each component, as code of both."""
    for match in pair.matches:
        yield {
            "match": match,
            "left": excerpts(match.left, written[pair.left]),
            "right": excerpts(match.right, written[pair.right]),
        }


def excerpts(places: Sequence[Place], written: Written) -> list[Excerpt]:
    """The shared lines of a submission with what stands around them."""
    return [Excerpt(title_of(place, written), tuple(lines_of(place, written))) for place in places]


def title_of(place: Place, written: Written) -> str:
    """Where the student finds the lines: "layers.py, lines 12 to 30", "work.ipynb, cell 7, line 3"."""
    first, last = place.lines[0], place.lines[-1]
    if origins := written.places.get(place.module):
        return origins[first - 1] or f"{place.module}.py"
    return f"{place.module.replace('.', '/')}.py, " + (f"line {first}" if first == last else f"lines {first} to {last}")


def lines_of(place: Place, written: Written) -> Iterator[CodeLine]:
    """The lines of a place and those around them, with gaps between."""
    text = written.texts[place.module]
    shared = set(place.lines)
    near = sorted({n for line in shared for n in range(line - CONTEXT, line + CONTEXT + 1) if 0 < n <= len(text)})
    before = near[0] - 1 if near else 0
    for number in near[:MOST_LINES]:
        if number != before + 1:
            yield CodeLine("", "…")
        yield CodeLine(str(number), code_line(text[number - 1], MOST_CHARACTERS), number in shared)
        before = number
    if len(near) > MOST_LINES:
        yield CodeLine("", f"… and {len(near) - MOST_LINES} lines more")
