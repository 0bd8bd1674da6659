"""Second pass: the hints, comments that tell students what to write and name the task.

    # TODO 1.3: project query, key and value, split them into heads,
    # and attend in every head.

A hint begins with a line of exactly this form and goes on to the end of the comment. TODO in any other form
is a problem, since in the reference it can only be a hint that is not written as one.
"""

import difflib
import re
import tokenize
from collections.abc import Collection
from dataclasses import dataclass

from foundation.todo_wording import COMMENT

from ..problems import Problem
from .markers import Marker
from .misspelled_markers import BEGIN
from .source import Source, indent_of

HINT_FORM = "`# TODO 1.3: what to do`"

_HINT_LIKE = re.compile(r"#\W*(?:(?i:todo)|T ?O[ _-]?D ?O)(?![a-z])")


@dataclass(frozen=True)
class Hint:
    """The instruction above a region: `number` of the task, `text` joined to one line, its lines from 1."""

    number: str
    text: str
    first_line: int
    last_line: int


def find_hints(source: Source, tasks: Collection[str]) -> tuple[dict[int, Hint], list[Problem]]:
    """The hints by their last line; comments that begin like a hint without being one are problems."""
    comments = {
        token.start[0]: token
        for token in source.tokens
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
    }
    hints: dict[int, Hint] = {}
    problems: list[Problem] = []
    for token in source.tokens:
        if token.type != tokenize.COMMENT or not _HINT_LIKE.match(token.string):
            continue
        line, column = token.start
        match = COMMENT.fullmatch(token.string.rstrip())
        if match is None or line not in comments:
            what = f"`{token.string[:40].rstrip()}` is not a hint"
            problems.append(Problem(source.path, line, what, f"write {HINT_FORM} on a line of its own"))
            continue
        if match["number"] not in tasks:
            problems.append(_unknown(source.path, line, match["number"], tasks))
        parts = [match["text"].strip()]
        last = line
        while (
            (below := comments.get(last + 1)) is not None
            and below.start[1] == column
            and not below.string.startswith("##")
            and not _HINT_LIKE.match(below.string)
        ):
            last += 1
            parts.append(below.string[1:].strip())
        hints[last] = Hint(match["number"], " ".join(filter(None, parts)), line, last)
    return hints, problems


def _unknown(path: str, line: int, number: str, tasks: Collection[str]) -> Problem:
    nearest = difflib.get_close_matches(number, list(tasks), n=1, cutoff=0.0)
    guess = f"{nearest[0]} is the nearest; " if nearest else ""
    what = f"there is no task {number}"
    return Problem(path, line, what, f"{guess}autograder/assignment/assignment.toml lists the tasks")


def hint_above(source: Source, begin: Marker, hints: dict[int, Hint]) -> tuple[Hint | None, list[Problem]]:
    """The hint of the region that begins with a marker, or what is wrong with it."""
    hint = hints.get(begin.line - 1)
    if hint is None:
        what = f"`{BEGIN}` without a hint directly above it"
        return None, [Problem(source.path, begin.line, what, f"put {HINT_FORM} in the line above")]
    if indent_of(source.lines[hint.first_line - 1]) != begin.indent:
        what = "the hint is not indented like the marker below it"
        return None, [Problem(source.path, hint.first_line, what, "indent both like the solution")]
    return hint, []
