"""First pass: where the solution markers are, and what only looks like one.

A marker is a comment of exactly `### BEGIN SOLUTION` or `### END SOLUTION`, alone on its line. Text inside
a string is never a marker. A comment, or a line of a string, that resembles a marker is a problem: left
alone, it would put the solution into the students' copy.
"""

import tokenize
from dataclasses import dataclass

from ..problems import Problem
from .misspelled_markers import BEGIN, END, meant_in_comment, meant_in_string
from .source import Source


@dataclass(frozen=True)
class Marker:
    """One marker: `line` counts from 1, `indent` is the white space before it."""

    line: int
    is_begin: bool
    indent: str


def find_markers(source: Source) -> tuple[list[Marker], list[Problem]]:
    """All markers in order, misspelled ones too, and what is wrong with any."""
    markers: list[Marker] = []
    problems: list[Problem] = []
    for token in source.tokens:
        if token.type == tokenize.COMMENT:
            marker, found = _read_comment(source, token)
            markers += marker
            problems += found
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            problems += _read_string(source, token)
    return markers, problems


def pair_markers(path: str, markers: list[Marker]) -> tuple[list[tuple[Marker, Marker]], list[Problem]]:
    """Matches each BEGIN with its END; what is nested, orphaned or left open is a problem."""
    pairs: list[tuple[Marker, Marker]] = []
    problems: list[Problem] = []
    opened: Marker | None = None
    for marker in markers:
        if marker.is_begin and opened:
            what = f"`{BEGIN}` inside the region that began in line {opened.line}"
            right = f"regions do not nest: end that one with `{END}` first"
            problems.append(Problem(path, marker.line, what, right))
            opened = marker
        elif marker.is_begin:
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


def _read_comment(source: Source, token: tokenize.TokenInfo) -> tuple[list[Marker], list[Problem]]:
    """At most one marker and one problem. A misspelled marker is both, so that its partner is not an orphan."""
    line = token.start[0]
    indent = token.line[: token.start[1]]
    is_exact = token.string in (BEGIN, END)
    meant = token.string if is_exact else meant_in_comment(token.string)
    problems = []
    if meant and not is_exact:
        problems.append(_misspelled(source.path, line, token.string, meant))
    elif meant and indent.strip():
        what = f"`{token.string}` after code"
        problems.append(Problem(source.path, line, what, "a marker stands alone on its line"))
    is_marker = meant in (BEGIN, END) and not indent.strip()
    return [Marker(line, meant == BEGIN, indent)] if is_marker else [], problems


def _read_string(source: Source, token: tokenize.TokenInfo) -> list[Problem]:
    problems = []
    begin = 0  # the line of a BEGIN within this string
    has_text_since_begin = False
    for line, text in enumerate(token.string.split("\n"), start=token.start[0]):
        bare = text.strip().strip("'\"")
        if bare == BEGIN:
            begin, has_text_since_begin = line, False
        elif bare == END:
            if begin and has_text_since_begin:
                what = "markers inside a string are not markers, and the text between them would be shipped"
                problems.append(Problem(source.path, begin, what, "remove it from the string"))
            begin = 0
        elif meant := meant_in_string(bare):
            problems.append(_misspelled(source.path, line, bare, meant))
        elif bare:
            has_text_since_begin = True
    return problems


def _misspelled(path: str, line: int, written: str, meant: str) -> Problem:
    shown = written if len(written) <= 60 else written[:57] + "..."
    return Problem(path, line, f"`{shown}` looks like a marker", f"write `{meant}`, or word it differently")
