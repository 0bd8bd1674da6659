"""Cuts a solution into pieces that can be looked for elsewhere: statements, and windows of tokens."""

import ast
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from ..skeleton.regions import blocks_of
from ..skeleton.source import Source
from .fingerprints import lex, lines_of_tokens


@dataclass(frozen=True)
class Piece:
    """A token sequence of a solution.

    Args:
        path: file of the reference.
        line: where it begins there.
        task: number of the TODO; empty for a file that stays with the instructor.
        tokens: as `lex` gives them.
        agreement: how consistently names have to be replaced for a renamed copy.
        stretch: of a window: the line where its region begins; 0 of a statement.
        offset: of a window: the number of tokens before it in its region.
    """

    path: str
    line: int
    task: str
    tokens: tuple[str, ...]
    agreement: float = 1.0
    stretch: int = 0
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({f'TODO {self.task}' if self.task else 'instructor only'})"


def code_of(source: Source) -> str:
    """The text with comments and free-standing strings (docstrings) cut out; lines and columns stay."""
    lines = [line.rstrip("\r\n") for line in source.lines]
    for token in source.tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for row in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                lines[row - 1] = ""
    return "\n".join(lines)


def statements_of(source: Source, text: str, begin: int, end: int, task: str) -> Iterator[Piece]:
    """Every statement between two lines, the head of a compound one, and what a statement computes."""
    lines = [line.encode() for line in text.split("\n")]
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.stmt) or isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        last = node.end_lineno or node.lineno
        if not begin < node.lineno <= last < end:
            continue
        blocks = [block for block, _ in blocks_of(node)]
        if blocks:
            first = blocks[0][0]
            extents = [_extent(node), (node.lineno, node.col_offset, first.lineno, first.col_offset)]
        else:
            extents = [_extent(node)]
            if isinstance(value := getattr(node, "value", None), ast.expr):
                extents.append(_extent(value))
        for extent in extents:
            yield Piece(source.path, node.lineno, task, tuple(lex(_cut(lines, *extent))))


def windows_of(
    source: Source, text: str, begin: int, end: int, task: str, length: int, agreement: float
) -> Iterator[Piece]:
    """Every stretch of one length between two lines."""
    code = "\n".join(text.split("\n")[begin : end - 1])
    tokens = lex(code)
    rows = lines_of_tokens(code)
    for start in range(len(tokens) - length + 1):
        yield Piece(
            source.path,
            begin + rows[start],
            task,
            tuple(tokens[start : start + length]),
            agreement,
            stretch=begin + 1,
            offset=start,
        )


def _extent(node: ast.stmt | ast.expr) -> tuple[int, int, int, int]:
    return (
        node.lineno,
        node.col_offset,
        node.end_lineno or node.lineno,
        node.end_col_offset or node.col_offset,
    )


def _cut(lines: list[bytes], row: int, column: int, last_row: int, last_column: int) -> str:
    if row == last_row:
        return lines[row - 1][column:last_column].decode()
    parts = [lines[row - 1][column:], *lines[row : last_row - 1], lines[last_row - 1][:last_column]]
    return b"\n".join(parts).decode()
