"""Which lines of a component a student has written: its simple statements that were not handed out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ..intake import Intake
from ..intake.python_source import parse

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NESTED = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
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
    given = {ast.dump(node) for one in handed_out.values() for node in ast.walk(one) if isinstance(node, SIMPLE)}
    mentioned = {node.id for node in ast.walk(ours[name]) if isinstance(node, ast.Name)}
    helpers = [one for other, one in ours.items() if other in mentioned - handed_out.keys() - {name}]
    found = [one for node in (ours[name], *helpers) for one in _statements(module, node)]
    return [one for one in found if ast.dump(one.node) not in given and not is_text(one.node)]


def definitions_of(text: str) -> dict[str, ast.stmt]:
    """The functions and classes at the top of a module, the last one of each name."""
    tree = parse(text)
    body = tree.body if isinstance(tree, ast.Module) else []
    return {node.name: node for node in body if isinstance(node, (*FUNCTIONS, ast.ClassDef))}


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


def with_expression(text: str, node: ast.expr, other: ast.expr) -> str | None:
    """A module's text with another expression in the place of one; in parentheses only where it needs them.

    A part of the same module is taken as it stands there.
    """
    code = ast.get_source_segment(text, other) if hasattr(other, "lineno") else None
    code = code or ast.unparse(other)
    plain, safe = with_code(text, node, code), with_code(text, node, f"({code})")
    if plain is not None and safe is not None and ast.dump(ast.parse(plain)) == ast.dump(ast.parse(safe)):
        return plain
    return safe


def with_code(text: str, node: ast.stmt | ast.expr, code: str) -> str | None:
    """A module's text with other code in the place of a node; None where the result is not Python.

    Also None where the node's place in the text is not what Python's parser says, as after a lone carriage return.
    """
    lines = [line.encode() for line in text.split("\n")]
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    if last >= len(lines) or node.end_col_offset is None:
        return None
    head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
    old = b"\n".join(lines[first : last + 1])
    old = old[node.col_offset : len(old) - len(tail)]
    try:
        if isinstance(node, ast.expr):
            is_there = ast.dump(ast.parse(b"(" + old + b"\n)", mode="eval").body) == ast.dump(node)
        else:
            is_there = [ast.dump(one) for one in ast.parse(old).body] == [ast.dump(node)]
        changed = b"\n".join([*lines[:first], head + code.encode() + tail, *lines[last + 1 :]]).decode()
        ast.parse(changed)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return changed if is_there else None
