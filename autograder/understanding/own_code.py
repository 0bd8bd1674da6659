"""Which lines of a component a student has written: its simple statements that were not handed out."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from ..intake import Intake
from ..syntax_trees import dump, parse, statements_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NESTED = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
MOST_STATEMENTS, MOST_LINES, MOST_CHARACTERS = 100, 12, 150
"""Of a component, that are asked about; of a statement; of a line."""
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)


@dataclass(frozen=True)
class Statement:
    """A simple statement of a student's.

    Attributes:
        module: where it stands.
        node: of the syntax tree.
        function: the innermost function around it.
        names: the functions and classes around it, from the outermost.
    """

    module: str
    node: ast.stmt
    function: ast.FunctionDef | ast.AsyncFunctionDef
    names: tuple[str, ...]

    @property
    def lines(self) -> range:
        """The numbers of its lines."""
        return range(self.node.lineno, (self.node.end_lineno or self.node.lineno) + 1)


def own_statements(intake: Intake, component: str) -> list[Statement]:
    """The statements of a component, and of helpers beside it, that the student has written.

    Args:
        intake: the submission.
        component: "layers.LayerNorm".

    Returns:
        The statements; none where the module cannot be read, or is not the student's.
    """
    module, _, name = component.partition(".")
    if module not in intake.submitted:
        return []
    ours = definitions_of(intake.sources[module][1])
    if name not in ours:
        return []
    handed_out = definitions_of(intake.release.get(module, ("", ""))[1])
    given = statements_of(intake.release.get(module, ("", ""))[1])
    mentioned = {node.id for node in ast.walk(ours[name]) if isinstance(node, ast.Name)}
    helpers = [one for other, one in ours.items() if other in mentioned - handed_out.keys() - {name}]
    found = [one for node in (ours[name], *helpers) for one in _statements(module, node)]
    lines = intake.sources[module][1].split("\n")
    legible = [one for one in found if is_legible(one, lines) and not is_text(one.node)]
    return [one for one in legible[:MOST_STATEMENTS] if dump(one.node) not in given | {""}]


def definitions_of(text: str) -> dict[str, ast.stmt]:
    """The functions and classes at the top of a module, the last one of each name."""
    tree = parse(text)
    body = tree.body if isinstance(tree, ast.Module) else []
    return {node.name: node for node in body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


def is_legible(statement: Statement, lines: list[str]) -> bool:
    """Whether a statement can be shown: on lines that fit a page."""
    shown = [lines[number - 1] for number in statement.lines if number <= len(lines)]
    return len(shown) <= MOST_LINES and all(len(line) <= MOST_CHARACTERS for line in shown)


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring or `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _statements(module: str, definition: ast.stmt) -> Iterator[Statement]:
    waiting: list[tuple[ast.stmt, tuple[ast.stmt, ...]]] = [(definition, ())]
    while waiting:
        node, around = waiting.pop(0)
        if isinstance(node, SIMPLE) and around and isinstance(around[-1], FUNCTIONS):
            yield Statement(
                module,
                node,
                around[-1],
                tuple(one.name for one in around if isinstance(one, (*FUNCTIONS, ast.ClassDef))),
            )
        inner = (*around, node) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else around
        blocks = (getattr(node, field, []) for field in ("body", "orelse", "finalbody"))
        waiting[:0] = [(one, inner) for block in blocks for one in block if isinstance(one, ast.stmt)]


def with_expression(text: str, statement: ast.stmt, node: ast.expr, other: ast.expr) -> str | None:
    """A module's text with another expression in the place of one; see `with_code`."""
    return with_code(text, statement, ast.unparse(copy.deepcopy(statement, {id(node): other})))


def with_code(text: str, statement: ast.stmt, code: str) -> str | None:
    """A module's text with other code in the place of a statement; None where that is not Python."""
    lines = text.split("\n")
    first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    before = lines[first].encode()[: statement.col_offset].decode()
    after = lines[last].encode()[statement.end_col_offset :].decode()
    changed = "\n".join([*lines[:first], before + code + after, *lines[last + 1 :]])
    try:
        ast.parse(changed)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return changed
