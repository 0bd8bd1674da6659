"""One file of the reference, and the solutions in it: each a marked region with a hint above it.

    # TODO 1.3: project query, key and value, split them into heads,
    # and attend in every head.
    ### BEGIN SOLUTION
    ...
    ### END SOLUTION

A region is whole statements of one block in one function. A misspelled marker leaves its partner or a hint alone, which
is a problem: the solution would stand in the students' copy.

Also here: what is wrong with the input of a release, and where. Problems are collected first, and reported all at once.
"""

import ast
import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from foundation.command_line import UserError
from foundation.texts import COMMENT, hint_above, label_of


@dataclass(frozen=True, order=True)
class Problem:
    """One fault in one line of one file.

    Args:
        path: the file as the user knows it, such as `reference/attention.py`.
        line: from 1; 0 where the file as a whole is meant.
        what: the fault.
        right: what would be right.
    """

    path: str
    line: int
    what: str
    right: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.what}; {self.right}"


class ReleaseError(UserError):
    """The input does not allow a release. Its text is for the user: one line for each problem."""

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        self.problems = [] if isinstance(problems, str) else sorted(set(problems))
        super().__init__(problems if isinstance(problems, str) else "\n".join(map(str, self.problems)))


BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
HINT_FORM = "`# TODO 1.3: what to do`"

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Block = tuple[list[ast.stmt], tuple[Definition, ...]]
"""Statements below each other, and the definitions around them, the outermost first."""


@dataclass(frozen=True)
class Source:
    """A file that is valid Python.

    Args:
        path: as shown to the user.
        text: the whole text; newlines as they are in the file.
        lines: the text cut after each newline; `lines[0]` is line 1.
        tree: the syntax tree.
    """

    path: str
    text: str
    lines: tuple[str, ...]
    tree: ast.Module


@dataclass(frozen=True)
class Hint:
    """The instruction above a region: `number` of the task, `text` joined to one line."""

    number: str
    text: str


@dataclass(frozen=True)
class Region:
    """One solution.

    Args:
        path: the file, as shown to the user.
        begin: line of `### BEGIN SOLUTION`.
        end: line of `### END SOLUTION`.
        indent: white space before the marker.
        hint: the instruction above it.
        function: qualified name of the function around it, such as `EncoderLayer.forward`.
    """

    path: str
    begin: int
    end: int
    indent: str
    hint: Hint
    function: str

    @property
    def message(self) -> str:
        """What a student is told where the TODO is reached: its label with the text of the hint."""
        return f"{label_of(self.hint.number)}: {self.hint.text}"


def read_source(path: str, content: bytes) -> Source:
    """Decodes and parses one file. Raises: ReleaseError where it is not UTF-8, or not valid Python."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReleaseError([Problem(path, 0, f"is not UTF-8 ({error})", "save it as UTF-8")]) from None
    return parse_source(path, text)


def parse_source(path: str, text: str) -> Source:
    """Parses a text. Raises: ReleaseError where it is not valid Python."""
    try:
        tree = ast.parse(text, filename=path)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 0
        what = f"is not valid Python ({getattr(error, 'msg', error)})"
        raise ReleaseError([Problem(path, line, what, "it has to be valid Python")]) from None
    return Source(path, text, tuple(io.StringIO(text, newline="\n")), tree)


def find_regions(source: Source, tasks: Collection[str]) -> list[Region]:
    """Finds all regions of a file, in order.

    Args:
        source: the file.
        tasks: the numbers that a hint may bear, such as `1.3` and `E.1`.

    Raises:
        ReleaseError: with everything that is wrong.
    """
    problems: list[Problem] = []
    regions: list[Region] = []
    hints = 0
    begin = 0  # the line of the last BEGIN, until its END
    for number, line in enumerate(source.lines, start=1):
        hints += COMMENT.fullmatch(line.strip()) is not None
        marker = line.strip()
        if marker == (BEGIN if begin else END):
            what = f"`{BEGIN}` inside a region" if begin else f"`{END}` without a `{BEGIN}` before it"
            problems.append(Problem(source.path, number, what, "each region has one of both"))
        elif marker == BEGIN:
            begin = number
        elif marker == END:
            try:
                regions.append(_region(source, begin, number, tasks))
            except ReleaseError as error:
                problems += error.problems
            begin = 0
    if begin:
        what = f"`{BEGIN}` without an `{END}` after it"
        problems.append(Problem(source.path, begin, what, f"put `{END}` below the solution"))
    if hints != len(regions) and not problems:
        what = f"has {hints} hints, but {len(regions)} solutions"
        problems.append(Problem(source.path, 0, what, f"`{BEGIN}` has to follow {HINT_FORM} in the next line"))
    if problems:
        raise ReleaseError(problems)
    return regions


def _region(source: Source, begin: int, end: int, tasks: Collection[str]) -> Region:
    """The region between two markers. Raises: ReleaseError unless it has a hint, and is whole statements."""

    def refusal(line: int, what: str, right: str) -> ReleaseError:
        return ReleaseError([Problem(source.path, line, what, right)])

    number, text = hint_above(source.lines, begin) or ("", "")
    if not number:
        raise refusal(begin, f"`{BEGIN}` without a hint directly above it", f"put {HINT_FORM} in the line above")
    if number not in tasks:
        raise refusal(begin, f"there is no task {number}", "assignment.toml lists the tasks")
    found = [
        (inside, around)
        for block, around in blocks_of(source.tree)
        if (inside := [one for one in block if begin < first_line(one) and (one.end_lineno or 0) < end])
    ]
    if not found:
        raise refusal(begin, "the region holds no whole statement", "put the solution's statements in it")
    inside, around = found[0]
    covered = {line for one in inside for line in range(first_line(one), (one.end_lineno or 0) + 1)}
    for line in range(begin + 1, end):
        written = source.lines[line - 1].strip()
        if written and not written.startswith("#") and line not in covered:
            what = f"the region that began in line {begin} cuts a statement or leaves its block here"
            raise refusal(line, what, "a region is whole statements of one block")
    if not around or isinstance(around[-1], ast.ClassDef):
        what = "the region stands outside any function"
        raise refusal(begin, what, "the skeleton could not be imported: mark the statements inside functions")
    if is_text(inside[0]) and inside[0] is around[-1].body[0]:
        raise refusal(begin, "the region holds the function's docstring", "docstrings stay: begin below it")
    names = [f"{one.name}.<locals>" if isinstance(one, _FUNCTION) else one.name for one in around]
    function = ".".join(names).removesuffix(".<locals>")
    indent = indent_of(source.lines[first_line(inside[0]) - 1])
    return Region(source.path, begin, end, indent, Hint(number, text), function)


def blocks_of(node: ast.AST, around: tuple[Definition, ...] = ()) -> Iterator[Block]:
    """All blocks in a node, outer ones before those in them: bodies, else and finally, handlers, match cases."""
    if isinstance(node, Definition):
        around = (*around, node)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block, around
    for child in ast.iter_child_nodes(node):
        yield from blocks_of(child, around)


def is_text(statement: ast.AST) -> TypeGuard[ast.Expr]:
    """Whether a statement is nothing but a string, as a docstring is."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def first_line(statement: ast.stmt) -> int:
    """Where a statement begins, with its decorators."""
    decorators = statement.decorator_list if isinstance(statement, Definition) else []
    return min([statement.lineno, *(node.lineno for node in decorators)])


def indent_of(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]
