"""One Python file of the reference: its text, lines, tokens and syntax tree, read once for all passes."""

import ast
import io
import re
import threading
import tokenize
import warnings
from dataclasses import dataclass

from ..problems import Problem, ReleaseError
from .misspelled_markers import meant_in_comment, meant_in_string

WARNING_FILTERS = threading.Lock()
"""To be held while warnings are caught: filters belong to the whole process, and gates run in threads."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


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
    """Decodes and parses one file.

    Raises:
        ReleaseError: where it is not UTF-8, or not valid Python.
    """
    try:
        text = content.decode("utf-8")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except (UnicodeDecodeError, SyntaxError) as error:
        raise _refusal(path, 0, f"is not UTF-8 ({error})", "save it as UTF-8") from None
    if encoding != "utf-8":
        raise _refusal(path, 1, f"is marked as {encoding}", "save it as UTF-8 without a byte-order mark")
    lone = re.search(r"\r(?!\n)", text)
    if lone:
        line = text.count("\n", 0, lone.start()) + 1
        raise _refusal(path, line, "a carriage return stands alone", "end lines with a newline")
    return parse_source(path, text)


def parse_source(path: str, text: str) -> Source:
    """Parses a text. Raises: ReleaseError where it is not valid Python."""
    lines = tuple(_LINE.findall(text))
    try:
        with WARNING_FILTERS, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the gate `compiles` judges them
            tree = ast.parse(text, filename=path)
        tokens = tuple(tokenize.generate_tokens(iter([*lines, ""]).__next__))
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        line = error.lineno if isinstance(error, SyntaxError) else None
        if isinstance(error, tokenize.TokenError):
            line = error.args[1][0]
        right = "it has to be valid Python"
        written = lines[line - 1].strip() if line and line <= len(lines) else ""
        meant = meant_in_comment(written) or meant_in_string(written)
        if meant and not written.startswith("###"):
            right = f"if a marker is meant, write `{meant}`"
        what = error.msg if isinstance(error, SyntaxError) else error.args[0]
        raise _refusal(path, line or 0, f"is not valid Python ({what})", right) from None
    return Source(path, text, lines, tokens, tree)


def indent_of(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def _refusal(path: str, line: int, what: str, right: str) -> ReleaseError:
    return ReleaseError([Problem(path, line, what, right)])
