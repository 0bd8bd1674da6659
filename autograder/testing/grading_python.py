"""Finds what the Python that grades cannot read, in a student's own run by a newer Python."""

import ast
import io
import sys
import tokenize
from collections.abc import Iterable

Version = tuple[int, int]
Token = tuple[str, str, int]
"""Kind as in `tokenize.tok_name`, text, line."""

FREE_F_STRINGS = (3, 12)
"""The first Python whose f-strings may hold any expression; `feature_version` does not tell (PEP 701)."""


def check_syntax(path: str, text: str, version: Version) -> None:
    """Checks a module against the Python that grades.

    Args:
        path: for the message.
        text: of a module that this process's Python can read; other ones are left to it.
        version: of the Python that grades.

    Raises:
        SyntaxError: with the line, what is newer, and the version.
    """
    try:
        ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    try:
        ast.parse(text, path, feature_version=version)
        what, line = "", 0
    except SyntaxError as error:
        what, line = error.msg, error.lineno or 1
    if not what and version < FREE_F_STRINGS:
        what, line = newer_f_string(tokens_of(text))
    if what:
        shown = ".".join(map(str, version))
        source = text.split("\n")[line - 1]
        raise SyntaxError(f"{what}; you are graded by Python {shown}", (path, line, None, source))


def tokens_of(text: str) -> Iterable[Token]:
    """The tokens of a module."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        yield tokenize.tok_name[token.type], token.string, token.start[0]


def newer_f_string(tokens: Iterable[Token]) -> tuple[str, int]:
    """The first thing in an f-string that Python 3.11 cannot read, and its line; ("", 0) if there is none.

    Up to 3.11 an f-string ends at the first quotes like its own, and what is in braces holds no backslash, no comment
    and, between single quotes, no end of a line.

    Args:
        tokens: as Python 3.12 and later give them, which split f-strings into their parts.
    """
    around: list[tuple[str, int, int]] = []  # of each f-string: its quotes, its line, the number of open braces
    for kind, text, line in tokens:
        if kind == "FSTRING_END":
            around.pop()
        within = around[:-1] if kind == "FSTRING_MIDDLE" else [one for one in around if one[2]]
        for quotes, first, _ in within:
            if quotes in text:
                return f"an f-string in {quotes} cannot hold {quotes} in its braces", line
            if "\\" in text:
                return "the braces of an f-string cannot hold a backslash", line
            if kind == "COMMENT":
                return "the braces of an f-string cannot hold a comment", line
            if len(quotes) == 1 and line != first:
                return f"an f-string in {quotes} cannot go on in the next line", line
        if kind == "FSTRING_START":
            around.append((text.lstrip("fFrRbBuU"), line, 0))
        elif kind == "OP" and text in "{}" and around:
            quotes, first, depth = around[-1]
            around[-1] = (quotes, first, depth + (1 if text == "{" else -1))
    return "", 0


def is_newer(version: Version) -> bool:
    """Whether this Python is newer than the one that grades, so that there is something to check."""
    return sys.version_info[:2] > version
