"""First pass: where the solutions are.

A marker is a comment of exactly `### BEGIN SOLUTION` or `### END SOLUTION`, alone on its line. Text inside a string is
never one. A comment that only resembles a marker is a problem: left alone, it would put the solution into the students'
copy.
"""

import re
import tokenize
import unicodedata
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from ..problems import Problem
from .source import Source

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"

_WORD = re.compile(r"[^\W_]+")
_EDGES = ("begin", "end")
_MEANT = ("solution", "answer")
_OTHER_WORDS = {"resolution", "evolution", "absolution", "dissolution", "revolution", "pollution", "dilution"}


@dataclass(frozen=True)
class Marker:
    """One marker: `line` counts from 1, `indent` is the white space before it."""

    line: int
    is_begin: bool
    indent: str


def find_markers(source: Source) -> tuple[list[Marker], list[Problem]]:
    """All markers in order, and what is wrong with any; a misspelled one is both, so that its partner is no orphan."""
    markers: list[Marker] = []
    problems: list[Problem] = []
    for token in source.tokens:
        if token.type == tokenize.COMMENT:
            line, indent = token.start[0], token.line[: token.start[1]]
            meant = token.string if token.string in (BEGIN, END) else meant_in_comment(token.string)
            if meant and meant != token.string:
                shown = token.string if len(token.string) <= 60 else f"{token.string[:57]}..."
                right = f"write `{meant}`, or word it differently"
                problems.append(Problem(source.path, line, f"`{shown}` looks like a marker", right))
            elif meant and indent.strip():
                what = f"`{token.string}` after code"
                problems.append(Problem(source.path, line, what, "a marker stands alone on its line"))
            if meant and not indent.strip():
                markers.append(Marker(line, meant == BEGIN, indent))
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            for line, text in enumerate(token.string.split("\n"), start=token.start[0]):
                if text.strip() in (BEGIN, END):
                    what = f"`{text.strip()}` in a string is not a marker, and what follows would be shipped"
                    problems.append(Problem(source.path, line, what, "remove it from the string"))
    return markers, problems


def pair_markers(path: str, markers: list[Marker]) -> tuple[list[tuple[Marker, Marker]], list[Problem]]:
    """Matches each BEGIN with its END; what is nested, orphaned or left open is a problem."""
    pairs: list[tuple[Marker, Marker]] = []
    problems: list[Problem] = []
    opened: Marker | None = None
    for marker in markers:
        if marker.is_begin:
            if opened:
                what = f"`{BEGIN}` inside the region that began in line {opened.line}"
                right = f"regions do not nest: end that one with `{END}` first"
                problems.append(Problem(path, marker.line, what, right))
            opened = marker
        elif opened is None:
            what = f"`{END}` without a `{BEGIN}` before it"
            problems.append(Problem(path, marker.line, what, f"put `{BEGIN}` above the solution, or remove this"))
        else:
            pairs.append((opened, marker))
            opened = None
    if opened:
        what = f"`{BEGIN}` without an `{END}` after it"
        problems.append(Problem(path, opened.line, what, f"put `{END}` below the solution, or remove this"))
    return pairs, problems


def meant_in_comment(comment: str) -> str | None:
    """The marker that a comment resembles.

    It does so if it begins with something like `begin solution`, if it speaks of a SOLUTION in capitals or behind more
    than one `#`, and if it says nothing but `## END`.

    Args:
        comment: with its `#`, without indentation.

    Returns:
        The nearest marker; None where the comment is exactly one or plainly something else.
    """
    if comment in (BEGIN, END):
        return None
    words = _WORD.findall(unicodedata.normalize("NFKC", comment))
    letters = "".join(words).casefold()
    is_heading = comment[: len(comment) - len(comment.lstrip("# "))].count("#") > 1
    if not letters or not (
        any(_is_solution(word) and (is_heading or word.isupper()) for word in words)
        or any(_begins_with(letters, f"{edge}solution", 2 if is_heading else 1) for edge in _EDGES)
        or (is_heading and len(words) == 1 and any(OSA.distance(letters, edge) <= 1 for edge in _EDGES))
    ):
        return None
    to_begin, to_end = (
        min(OSA.distance(word.casefold(), edge) for word in words for edge in edges)
        for edges in (("begin", "start"), ("end", "stop"))
    )
    return BEGIN if to_begin <= to_end else END


def _begins_with(letters: str, target: str, n_edits: int) -> bool:
    """Whether a text begins with another one, but for so many slips; the first letter is right."""
    lengths = range(len(target) - n_edits, min(len(target) + n_edits, len(letters)) + 1)
    return letters[0] == target[0] and any(OSA.distance(letters[:n], target) <= n_edits for n in lengths)


def _is_solution(word: str) -> bool:
    folded = word.casefold()
    return folded not in _OTHER_WORDS and any(OSA.distance(folded, meant) <= 2 for meant in _MEANT)
