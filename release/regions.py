"""One file of the reference, and the solutions in it: each a marked region with a hint above it.

    # TODO 1.3: project query, key and value, split them into heads,
    # and attend in every head.
    ### BEGIN SOLUTION
    ...
    ### END SOLUTION

A region is whole statements of one block in one function. Whatever only resembles a marker or a hint is a problem: left
alone, it would put the solution into the students' copy.

Also here: what is wrong with the input of a release, and where. Problems are collected first, and reported all at once.
"""

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from foundation.command_line import UserError
from foundation.texts import COMMENT, label_of


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

_MARKER_LIKE = re.compile(r"#\W*#|#.*\b(begin|start|end|stop)[\W_]*(solution|answer)", re.IGNORECASE)
_HINT_LIKE = re.compile(r"#\W*(?:(?i:todo)|T ?O[ _-]?D ?O)(?![a-z])")
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
        comments: as `tokenize` gives them.
        tree: the syntax tree.
    """

    path: str
    text: str
    lines: tuple[str, ...]
    comments: tuple[tokenize.TokenInfo, ...]
    tree: ast.Module


@dataclass(frozen=True)
class Marker:
    """One marker: `line` counts from 1, `indent` is the white space before it."""

    line: int
    is_begin: bool
    indent: str


@dataclass(frozen=True)
class Hint:
    """The instruction above a region: `number` of the task, `text` joined to one line, its lines from 1."""

    number: str
    text: str
    first_line: int
    last_line: int


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
    lines = tuple(io.StringIO(text, newline="\n"))
    try:
        tree = ast.parse(text, filename=path)
        tokens = tokenize.generate_tokens(iter([*lines, ""]).__next__)
        comments = tuple(token for token in tokens if token.type == tokenize.COMMENT)
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        line = getattr(error, "lineno", None) or 0
        what = f"is not valid Python ({getattr(error, 'msg', error)})"
        raise ReleaseError([Problem(path, line, what, "it has to be valid Python")]) from None
    return Source(path, text, lines, comments, tree)


def find_regions(source: Source, tasks: Collection[str]) -> list[Region]:
    """Finds all regions of a file, in order.

    Args:
        source: the file.
        tasks: the numbers that a hint may bear, such as `1.3` and `E.1`.

    Raises:
        ReleaseError: with everything that is wrong.
    """
    markers, problems = _find_markers(source)
    pairs, more = _pair_markers(source.path, markers)
    hints, about_hints = find_hints(source, tasks)
    problems += more + about_hints
    regions = []
    for begin, end in pairs:
        hint = hints.get(begin.line - 1)
        if hint is None:
            what = f"`{BEGIN}` without a hint directly above it"
            problems.append(Problem(source.path, begin.line, what, f"put {HINT_FORM} in the line above"))
        elif indent_of(source.lines[hint.first_line - 1]) != begin.indent:
            what = "the hint is not indented like the marker below it"
            problems.append(Problem(source.path, hint.first_line, what, "indent both like the solution"))
        try:
            function = _function_around(source, begin, end)
        except ReleaseError as error:
            problems += error.problems
        else:
            if hint:
                regions.append(Region(source.path, begin.line, end.line, begin.indent, hint, function))
    begins = {marker.line for marker in markers if marker.is_begin}
    for hint in hints.values():
        is_inside = any(begin.line <= hint.first_line < end.line for begin, end in pairs)
        if is_inside or hint.last_line + 1 not in begins:
            what = f"`# TODO {hint.number}:` " + ("inside a solution" if is_inside else "without a solution below it")
            problems.append(Problem(source.path, hint.first_line, what, f"`{BEGIN}` has to follow in the next line"))
    if problems:
        raise ReleaseError(problems)
    return regions


def _find_markers(source: Source) -> tuple[list[Marker], list[Problem]]:
    """All markers in order, and what is wrong with any; a misspelled one is both, so that its partner is no orphan."""
    markers: list[Marker] = []
    problems: list[Problem] = []
    for token in source.comments:
        if not _MARKER_LIKE.match(token.string):
            continue
        line, indent = token.start[0], token.line[: token.start[1]]
        meant = END if re.search("end|stop", token.string, re.IGNORECASE) else BEGIN
        if token.string != meant:
            right = f"write `{meant}`, or word it differently"
            problems.append(Problem(source.path, line, f"`{token.string[:60]}` looks like a marker", right))
        elif indent.strip():
            problems.append(Problem(source.path, line, f"`{meant}` after code", "a marker stands alone on its line"))
        if not indent.strip():
            markers.append(Marker(line, meant == BEGIN, indent))
    found = {marker.line for marker in markers}
    for number, text in enumerate(source.lines, start=1):
        if text.strip() in (BEGIN, END) and number not in found:
            what = f"`{text.strip()}` in a string is not a marker, and what follows would be shipped"
            problems.append(Problem(source.path, number, what, "remove it from the string"))
    return markers, problems


def _pair_markers(path: str, markers: list[Marker]) -> tuple[list[tuple[Marker, Marker]], list[Problem]]:
    """Matches each BEGIN with its END; what is nested, orphaned or left open is a problem."""
    pairs: list[tuple[Marker, Marker]] = []
    problems: list[Problem] = []
    opened: list[Marker] = []  # the last BEGIN, until its END
    for marker in markers:
        if marker.is_begin and opened:
            what = f"`{BEGIN}` inside the region that began in line {opened[-1].line}"
            problems.append(Problem(path, marker.line, what, f"regions do not nest: end that one with `{END}` first"))
        if marker.is_begin:
            opened = [marker]
        elif opened:
            pairs.append((opened.pop(), marker))
        else:
            what = f"`{END}` without a `{BEGIN}` before it"
            problems.append(Problem(path, marker.line, what, f"put `{BEGIN}` above the solution, or remove this"))
    for marker in opened:
        what = f"`{BEGIN}` without an `{END}` after it"
        problems.append(Problem(path, marker.line, what, f"put `{END}` below the solution, or remove this"))
    return pairs, problems


def find_hints(source: Source, tasks: Collection[str]) -> tuple[Mapping[int, Hint], list[Problem]]:
    """The hints by their last line; comments that begin like a hint without being one are problems."""
    alone = {token.start[0]: token for token in source.comments if not token.line[: token.start[1]].strip()}
    hints: dict[int, Hint] = {}
    problems: list[Problem] = []
    for token in source.comments:
        line, column = token.start
        if not _HINT_LIKE.match(token.string):
            continue
        match = COMMENT.fullmatch(token.string.rstrip())
        if match is None or line not in alone:
            what = f"`{token.string[:40].rstrip()}` is not a hint"
            problems.append(Problem(source.path, line, what, f"write {HINT_FORM} on a line of its own"))
            continue
        if match["number"] not in tasks:
            nearest = difflib.get_close_matches(match["number"], list(tasks), n=1, cutoff=0.0)
            right = "".join(f"{number} is the nearest; " for number in nearest) + "assignment.toml lists the tasks"
            problems.append(Problem(source.path, line, f"there is no task {match['number']}", right))
        parts, last = [match["text"].strip()], line
        while (
            (below := alone.get(last + 1)) is not None
            and below.start[1] == column
            and not below.string.startswith("##")
            and not _HINT_LIKE.match(below.string)
        ):
            last += 1
            parts.append(below.string[1:].strip())
        hints[last] = Hint(match["number"], " ".join(filter(None, parts)), line, last)
    return hints, problems


def _function_around(source: Source, begin: Marker, end: Marker) -> str:
    """The qualified name of the function that a region is in. Raises: ReleaseError unless it is whole statements."""

    def refusal(line: int, what: str, right: str) -> ReleaseError:
        return ReleaseError([Problem(source.path, line, what, right)])

    if begin.indent != end.indent:
        what = f"the markers of the region that began in line {begin.line} are not indented alike"
        raise refusal(end.line, what, "a region begins and ends in one block")
    found = [
        (inside, around)
        for block, around in blocks_of(source.tree)
        if (inside := [one for one in block if begin.line < first_line(one) and (one.end_lineno or 0) < end.line])
    ]
    if not found:
        raise refusal(begin.line, "the region holds no whole statement", "put the solution's statements in it")
    inside, around = found[0]
    covered = {line for one in inside for line in range(first_line(one), (one.end_lineno or 0) + 1)}
    for number in range(begin.line + 1, end.line):
        written = source.lines[number - 1].strip()
        if written and not written.startswith("#") and number not in covered:
            what = f"the region that began in line {begin.line} cuts a statement or leaves its block here"
            raise refusal(number, what, "a region is whole statements of one block")
    if indent_of(source.lines[first_line(inside[0]) - 1]) != begin.indent:
        raise refusal(begin.line, "the marker is not indented like the solution", "indent both alike")
    if not around or isinstance(around[-1], ast.ClassDef):
        what = "the region stands outside any function"
        raise refusal(begin.line, what, "the skeleton could not be imported: mark the statements inside functions")
    if is_text(inside[0]) and inside[0] is around[-1].body[0]:
        raise refusal(begin.line, "the region holds the function's docstring", "docstrings stay: begin below it")
    names = [f"{one.name}.<locals>" if isinstance(one, _FUNCTION) else one.name for one in around]
    return ".".join(names).removesuffix(".<locals>")


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
