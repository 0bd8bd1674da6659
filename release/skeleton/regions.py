"""Third pass: regions with their hints, each proven to be whole statements of one block in one function.

    # TODO 1.3: project query, key and value, split them into heads,
    # and attend in every head.
    ### BEGIN SOLUTION
    ...
    ### END SOLUTION

The hint is the comment directly above the marker, from the line with the task's number on.
"""

import ast
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from foundation.todo_wording import label_of

from ..problems import Problem
from .hints import Hint, find_hints, hint_above
from .markers import Marker, find_markers, pair_markers
from .misspelled_markers import BEGIN
from .source import Source, indent_of

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


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
    def label(self) -> str:
        """What the skeleton raises in its place: `TODO 1.3`."""
        return label_of(self.hint.number)

    @property
    def message(self) -> str:
        """What a student is told where it is raised: the label with the text of the hint."""
        return f"{self.label}: {self.hint.text}"


def find_regions(source: Source, tasks: Collection[str]) -> tuple[list[Region], list[Problem]]:
    """All sound regions of a file in order, and everything that is wrong.

    Args:
        source: the file.
        tasks: the numbers that a hint may bear, such as `1.3` and `E.1`.
    """
    markers, problems = find_markers(source)
    pairs, more = pair_markers(source.path, markers)
    problems += more
    hints, more = find_hints(source, tasks)
    problems += more
    regions = []
    for begin, end in pairs:
        hint, about_hint = hint_above(source, begin, hints)
        function, about_shape = _shape(source, begin, end)
        problems += about_hint + about_shape
        if hint and function:
            regions.append(Region(source.path, begin.line, end.line, begin.indent, hint, function))
    below_hint = {marker.line for marker in markers if marker.is_begin}
    solutions = [range(begin.line, end.line) for begin, end in pairs]
    for hint in hints.values():
        is_inside = any(hint.first_line in lines for lines in solutions)
        if is_inside or hint.last_line + 1 not in below_hint:
            what = f"`# TODO {hint.number}:` " + ("inside a solution" if is_inside else "without a solution below it")
            problems.append(Problem(source.path, hint.first_line, what, f"`{BEGIN}` has to follow in the next line"))
    return regions, problems


def _shape(source: Source, begin: Marker, end: Marker) -> tuple[str | None, list[Problem]]:
    """The function around a region, after checks that the region is whole statements of one block."""

    def refuse(line: int, what: str, right: str) -> tuple[None, list[Problem]]:
        return None, [Problem(source.path, line, what, right)]

    if begin.indent != end.indent:
        what = f"the markers of the region that began in line {begin.line} are not indented alike"
        return refuse(end.line, what, "a region begins and ends in one block")
    inside = [
        (block, statement, owners)
        for block, statement, owners in _walk(source.tree.body, ())
        if begin.line < _first_line(statement) and _last_line(statement) < end.line
    ]
    if not inside:
        return refuse(begin.line, "the region holds no whole statement", "put the solution's statements in it")
    block, top, owners = inside[0]
    tops = [statement for other, statement, _ in inside if other is block]
    covered = {line for statement in tops for line in range(_first_line(statement), _last_line(statement) + 1)}
    for token in source.tokens:
        is_code = token.type not in (
            tokenize.COMMENT,
            tokenize.NL,
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
        )
        if is_code and begin.line < token.start[0] < end.line and token.start[0] not in covered:
            what = f"the region that began in line {begin.line} cuts a statement or leaves its block here"
            return refuse(token.start[0], what, "a region is whole statements of one block")
    for statement in block:
        if statement not in tops and _first_line(statement) < end.line and _last_line(statement) > begin.line:
            what = "the region cuts the statement that begins here"
            return refuse(_first_line(statement), what, "a region is whole statements of one block")
    if indent_of(source.lines[_first_line(top) - 1]) != begin.indent:
        return refuse(begin.line, "the marker is not indented like the solution", "indent both alike")
    if not any(isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)) for owner in owners):
        what = "the region stands outside any function"
        return refuse(begin.line, what, "the skeleton could not be imported: mark the statements inside functions")
    if isinstance([owner for owner in owners if isinstance(owner, _DEFINITION)][-1], ast.ClassDef):
        what = "the region stands in the body of a class"
        return refuse(begin.line, what, "mark the statements inside the methods")
    if _is_docstring(top, owners[-1]):
        return refuse(begin.line, "the region holds the function's docstring", "docstrings stay: begin below it")
    return _qualified_name(owners), []


def _walk(
    block: list[ast.stmt], owners: tuple[ast.AST, ...]
) -> Iterator[tuple[list[ast.stmt], ast.stmt, tuple[ast.AST, ...]]]:
    """Every statement with its block and what it stands in, outer statements before inner ones."""
    for statement in block:
        yield block, statement, owners
        for inner, below in blocks_of(statement, owners):
            yield from _walk(inner, below)


def blocks_of(node: ast.AST, owners: tuple[ast.AST, ...] = ()) -> Iterator[tuple[list[ast.stmt], tuple[ast.AST, ...]]]:
    """The blocks directly below a compound statement: bodies, else and finally, handlers, match cases."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block, (*owners, node)
    for field in ("handlers", "cases"):
        for child in getattr(node, field, ()):
            yield from blocks_of(child, (*owners, node))


def _qualified_name(owners: tuple[ast.AST, ...]) -> str:
    parts: list[str] = []
    for owner in owners:
        if isinstance(owner, _DEFINITION):
            parts.append(owner.name)
            if not isinstance(owner, ast.ClassDef):
                parts.append("<locals>")
    return ".".join(parts[:-1])


def _is_docstring(statement: ast.stmt, owner: ast.AST) -> bool:
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return isinstance(owner, _DEFINITION) and statement is owner.body[0]
    return False


def _first_line(statement: ast.stmt) -> int:
    decorators = statement.decorator_list if isinstance(statement, _DEFINITION) else []
    return min([statement.lineno, *(node.lineno for node in decorators)])


def _last_line(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno
