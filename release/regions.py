"""One file of the reference, and the solutions in it: each a marked region with a hint above it.

    # TODO 1.3: project query, key and value, split them into heads,
    # and attend in every head.
    ### BEGIN SOLUTION
    ...
    ### END SOLUTION

A region is whole statements of one block in one function. A misspelled marker leaves its partner or a hint alone, which
is a problem: the solution would stand in the students' copy.
"""

import ast
import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from foundation.command_line import UserError
from foundation.texts import COMMENT, hint_above, line_of


class ReleaseError(UserError):
    """The input does not allow a release: one line for each problem, `file:line: what is wrong; what is right`."""


BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
HINT_FORM = "`# TODO 1.3: what to do`"

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Block = tuple[list[ast.stmt], tuple[Definition, ...]]
"""Statements below each other, and the definitions around them, the outermost first."""


@dataclass(frozen=True)
class Source:
    """A file that is valid Python: its path as shown to the user; its text, also cut after each newline; its tree."""

    path: str
    text: str
    lines: tuple[str, ...]
    tree: ast.Module


@dataclass(frozen=True)
class Region:
    """One solution.

    Args:
        number: of the task, from the hint above it.
        begin: line of `### BEGIN SOLUTION`.
        end: line of `### END SOLUTION`.
        indent: white space before the marker.
        function: qualified name of the function around it, such as `EncoderLayer.forward`.
    """

    number: str
    begin: int
    end: int
    indent: str
    function: str


def read_text(path: Path, name: str) -> str:
    """Read a text in UTF-8. Raises: ReleaseError, with the name for messages, where it is none."""
    return decode(name, path.read_bytes())


def decode(name: str, content: bytes) -> str:
    """Decode the content of a file. Raises: ReleaseError where it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{name}:{line_of(error)}: is not UTF-8 ({error.reason}); save it as UTF-8") from None


def parse_source(path: str, text: str) -> Source:
    """Parse a text. Raises: ReleaseError where it is not valid Python."""
    try:
        tree = ast.parse(text, filename=path)
    except (SyntaxError, ValueError) as error:
        place = f"{path}:{getattr(error, 'lineno', None) or 1}"
        raise ReleaseError(f"{place}: is not valid Python ({getattr(error, 'msg', error)}); correct it") from None
    return Source(path, text, tuple(io.StringIO(text, newline="\n")), tree)


def find_regions(source: Source, tasks: Collection[str]) -> list[Region]:
    """Find all regions of a file, in order.

    Args:
        source: the file.
        tasks: the numbers that a hint may bear, such as `1.3` and `E.1`.

    Raises:
        ReleaseError: with everything that is wrong.
    """
    problems: list[str] = []
    regions: list[Region] = []
    hints = 0
    begin = 0  # the line of the last BEGIN, until its END
    for number, line in enumerate(source.lines, start=1):
        marker = line.strip()
        hints += COMMENT.fullmatch(marker) is not None
        if marker == (BEGIN if begin else END):
            fault = f"`{BEGIN}` inside a region" if begin else f"`{END}` without a `{BEGIN}` before it"
            problems.append(f"{source.path}:{number}: {fault}; each region has one of both")
        elif marker == BEGIN:
            begin = number
        elif marker == END:
            try:
                regions.append(_region(source, begin, number, tasks))
            except ReleaseError as error:
                problems.append(str(error))
            begin = 0
    if begin:
        fault = f"`{BEGIN}` without an `{END}` after it"
        problems.append(f"{source.path}:{begin}: {fault}; put `{END}` below the solution")
    if hints != len(regions) and not problems:
        fault = f"has {hints} hints, but {len(regions)} solutions"
        problems.append(f"{source.path}: {fault}; `{BEGIN}` has to follow {HINT_FORM} in the next line")
    if problems:
        raise ReleaseError("\n".join(problems))
    return regions


def _region(source: Source, begin: int, end: int, tasks: Collection[str]) -> Region:
    """Return the region between two markers. Raises: ReleaseError unless it has a hint, and is whole statements."""

    def refusal(fault: str, line: int = begin) -> ReleaseError:
        return ReleaseError(f"{source.path}:{line}: {fault}")

    number, _ = hint_above(source.lines, begin) or ("", "")
    if not number:
        raise refusal(f"`{BEGIN}` without a hint directly above it; put {HINT_FORM} in the line above")
    if number not in tasks:
        raise refusal(f"there is no task {number}; assignment.toml lists the tasks")
    candidates = [
        (inside, around)
        for block, around in blocks_of(source.tree)
        if (inside := [node for node in block if begin < first_line(node) and (node.end_lineno or 0) < end])
    ]
    if not candidates:
        raise refusal("the region holds no whole statement; put the solution's statements in it")
    inside, around = candidates[0]
    covered = {line for node in inside for line in range(first_line(node), (node.end_lineno or 0) + 1)}
    for line in range(begin + 1, end):
        written = source.lines[line - 1].strip()
        if written and not written.startswith("#") and line not in covered:
            fault = f"the region that began in line {begin} cuts a statement or leaves its block here"
            raise refusal(f"{fault}; a region is whole statements of one block", line)
    if not around or isinstance(around[-1], ast.ClassDef):
        fault = "the region stands outside any function"
        raise refusal(f"{fault}; the skeleton could not be imported: mark the statements inside functions")
    if is_text(inside[0]) and inside[0] is around[-1].body[0]:
        raise refusal("the region holds the function's docstring; docstrings stay: begin below it")
    names = [node.name if isinstance(node, ast.ClassDef) else f"{node.name}.<locals>" for node in around]
    indent = indent_of(source.lines[first_line(inside[0]) - 1])
    return Region(number, begin, end, indent, ".".join(names).removesuffix(".<locals>"))


def blocks_of(node: ast.AST, around: tuple[Definition, ...] = ()) -> Iterator[Block]:
    """Yield all blocks in a node, outer ones before those in them: bodies, else and finally, handlers, match cases."""
    if isinstance(node, Definition):
        around = (*around, node)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block, around
    for child in ast.iter_child_nodes(node):
        yield from blocks_of(child, around)


def is_text(statement: ast.AST) -> TypeGuard[ast.Expr]:
    """True if a statement is nothing but a string, as a docstring is."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def first_line(statement: ast.stmt) -> int:
    """Return the line in which a statement begins, with its decorators."""
    decorators = statement.decorator_list if isinstance(statement, Definition) else []
    return min([statement.lineno, *(node.lineno for node in decorators)])


def indent_of(line: str) -> str:
    """Return the white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]
