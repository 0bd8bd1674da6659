"""One Python file of the reference: its text, lines, comments and syntax tree, read once for all passes."""

import ast
import io
import tokenize
from dataclasses import dataclass

from ..problems import Problem, ReleaseError


@dataclass(frozen=True)
class Source:
    """A file that is valid Python.

    Args:
        path: as shown to the user.
        text: the whole text; newlines as they are in the file.
        lines: the text cut after each newline; `lines[0]` is line 1.
        tokens: as `tokenize` gives them.
        tree: the syntax tree.
    """

    path: str
    text: str
    lines: tuple[str, ...]
    tokens: tuple[tokenize.TokenInfo, ...]
    tree: ast.Module


def read_source(path: str, content: bytes) -> Source:
    """Decodes and parses one file. Raises: ReleaseError where it is not UTF-8, or not valid Python."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReleaseError([Problem(path, 0, f"is not UTF-8 ({error})", "save it as UTF-8")]) from None
    return parse_source(path, text)


def parse_source(path: str, text: str) -> Source:
    """Parses a text. Raises: ReleaseError where it is not valid Python."""
    lines = tuple(io.StringIO(text, newline="\n"))
    try:
        tree = ast.parse(text, filename=path)
        tokens = tuple(tokenize.generate_tokens(iter([*lines, ""]).__next__))
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None) or 0
        what = f"is not valid Python ({getattr(error, 'msg', error)})"
        raise ReleaseError([Problem(path, line, what, "it has to be valid Python")]) from None
    return Source(path, text, lines, tokens, tree)


def indent_of(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]
