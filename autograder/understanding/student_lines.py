"""Which lines of a component a student has written, and one-line changes of them.

The student's own are its simple statements that were not handed out. Changes are what the mutation operators make of
them, as far as somebody might write it.
"""

from __future__ import annotations

import ast
import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..intake import Intake
from ..reports.html import MOST_CHARACTERS
from ..sources import parse
from .operators import mutations

NESTED = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
MOST_STATEMENTS = 100
"""Of a component, that are asked about."""
SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
NO_SLIPS = {"conditions", "indices", "orders"}
"""Mutations that seldom look as if somebody had written them."""
LEAVING_OUT = {"arguments", "operands", "unary"}
LIBRARIES = {"torch", "nn", "F", "math", "np", "self", "super"}
"""Names that are no tensors: what is called on them is no step that could be left out."""


@dataclass(frozen=True)
class Statement:
    """A simple statement of a student's.

    Attributes:
        node: of the syntax tree.
        function: the innermost function around it.
    """

    node: ast.stmt
    function: ast.FunctionDef

    @property
    def lines(self) -> range:
        """The numbers of its lines."""
        return range(self.node.lineno, (self.node.end_lineno or self.node.lineno) + 1)

    def with_expression(self, node: ast.expr, other: ast.expr) -> str:
        """Its code with another expression in the place of one."""
        return ast.unparse(copy.deepcopy(self.node, {id(node): other}))


def own_statements(intake: Intake, component: str) -> list[Statement]:
    """The statements of a component, and of helpers beside it, that the student has written.

    Args:
        intake: the submission.
        component: "layers.LayerNorm".

    Returns:
        The statements; none where the module cannot be read, or is not the student's.
    """
    module, _, name = component.partition(".")
    ours = definitions_of(intake.sources[module][1]) if module in intake.submitted else {}
    if name not in ours:
        return []
    handed_out = definitions_of(intake.release.get(module, ("", ""))[1])
    given = {ast.dump(node) for one in handed_out.values() for node in ast.walk(one) if isinstance(node, SIMPLE)}
    mentioned = {node.id for node in ast.walk(ours[name]) if isinstance(node, ast.Name)}
    helpers = [one for other, one in ours.items() if other in mentioned - handed_out.keys() - {name}]
    found = [one for node in (ours[name], *helpers) for one in _statements(node)]
    lines = intake.sources[module][1].split("\n")
    legible = [one for one in found if is_legible(one, lines)]
    return [one for one in legible[:MOST_STATEMENTS] if ast.dump(one.node) not in given]


def definitions_of(text: str) -> dict[str, ast.stmt]:
    """The functions and classes at the top of a module, the last one of each name."""
    tree = parse(text)
    body = [] if isinstance(tree, SyntaxError) else tree.body
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def is_legible(statement: Statement, lines: list[str]) -> bool:
    """Whether all lines of a statement can be shown, and it is no docstring or `...`."""
    is_text = isinstance(statement.node, ast.Expr) and isinstance(statement.node.value, ast.Constant)
    return not is_text and all(len(lines[number - 1]) <= MOST_CHARACTERS for number in statement.lines)


def _statements(node: ast.stmt, function: ast.FunctionDef | None = None) -> Iterator[Statement]:
    if isinstance(node, SIMPLE) and function is not None:
        yield Statement(node, function)
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        function = node if isinstance(node, ast.FunctionDef) else None
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield from _statements(child, function)


def with_code(text: str, node: ast.stmt | ast.expr, code: str) -> str | None:
    """A module's text with other code in the place of a statement or an expression; None where that is not Python."""
    lines = text.split("\n")
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    changed = "\n".join([*lines[:first], before + code + after, *lines[last + 1 :]])
    try:
        ast.parse(changed)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return changed


@dataclass(frozen=True)
class Change:
    """A change of one line.

    Attributes:
        line: its number.
        before: the line as it is.
        after: the line as it would be.
        text: the whole module with it.
        kind: of slip.
    """

    line: int
    before: str
    after: str
    text: str
    kind: str


def slips(statement: Statement) -> Iterator[tuple[str, str]]:
    """The kind of each slip, and the statement's code with it."""
    kinds = arguments_of(statement.function)
    if isinstance(statement.node, ast.Expr):
        yield "statements", "pass"
    calls = [node for node in ast.walk(statement.node) if isinstance(node, ast.Call)]
    sizes = {id(size) for call in calls if makes(call) for size in call.args}
    for node in expressions_in(statement.node):
        # With a layer of other sizes nothing works.
        own = kinds.get(node.id) if isinstance(node, ast.Name) and id(node) not in sizes else None
        alike = [name for name in kinds if kinds[name] == own]
        for kind, other in mutations(node, alike):
            if kind not in NO_SLIPS and isinstance(other, ast.expr) and is_plausible(node, other):
                yield kind, statement.with_expression(node, other)
        if own is not None and own.endswith("None"):
            yield "not_passed_on", statement.with_expression(node, ast.Constant(None))


def without(statement: Statement) -> Iterator[tuple[str, str]]:
    """A statement left out, and each step of it that can be left out."""
    if not isinstance(statement.node, ast.Return):
        yield "statements", "pass"
    for kind, code in slips(statement):
        if kind in LEAVING_OUT and len(code) < len(ast.unparse(statement.node)):
            yield kind, code


Changing = Callable[[Statement], Iterator[tuple[str, str]]]
"""From a statement to kinds of changes, and its code with them."""


def changes_of(text: str, own: Sequence[Statement], changing: Changing = slips) -> list[Change]:
    """All changes of those statements of a module's text that stand on one line, each line once."""
    found: dict[tuple[int, str], Change] = {}
    lines = text.split("\n")
    for statement in (one for one in own if len(one.lines) == 1):
        line = statement.node.lineno
        before = lines[line - 1].strip()
        for kind, code in changing(statement):
            changed = with_code(text, statement.node, code)
            after = changed.split("\n")[line - 1].strip() if changed else ""
            if changed and after != before:
                found.setdefault((line, after), Change(line, before, after, changed, kind))
    return list(found.values())


def is_plausible(node: ast.expr, other: ast.expr) -> bool:
    """Whether the other expression might have been meant; a part of the first one is a step that was left out."""
    if isinstance(node, ast.Call) and makes(node):
        return False
    is_part = any(other is part for part in ast.walk(node))
    if not is_part:
        if isinstance(node, ast.Call) and isinstance(other, ast.Call):
            return len(other.args) >= len(node.args)
        if isinstance(node, ast.BinOp) and isinstance(other, ast.BinOp) and other.left is node.right:
            return not isinstance(node.op, (ast.Add, ast.Mult))
        return not (isinstance(other, ast.Constant) and other.value == 0)
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.MatMult)
    return is_tensor(other) if isinstance(node, ast.Call) else not isinstance(other, ast.Constant)


def arguments_of(function: ast.FunctionDef) -> dict[str, str]:
    """The arguments but `self`, with their annotations: only those of one kind are taken for one another."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {one.arg: ast.unparse(one.annotation or ast.Constant("")) for one in every if one.arg != "self"}


def expressions_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates in its own function, the outer ones first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*NESTED, ast.JoinedStr)):
            continue
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), (ast.Store, ast.Del)):
            yield child
        yield from expressions_in(child)


def makes(node: ast.Call) -> bool:
    """Whether a call makes a layer or a parameter: by its capital letter."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name[:1].isupper()


def is_tensor(node: ast.expr) -> bool:
    """Whether an expression is what a step of a computation begins with, as far as one can tell."""
    return (
        not isinstance(node, (ast.Constant, ast.Starred, ast.Attribute, ast.UnaryOp))
        and getattr(node, "id", "") not in LIBRARIES
    )


def mixed(changes: list[Change], draw: random.Random) -> list[Change]:
    """All changes, in an order in which lines and kinds take turns."""
    times: Counter[int | str] = Counter()

    def turn(change: Change) -> int:
        times.update((change.line, change.kind))
        return times[change.line] + times[change.kind]

    return sorted(draw.sample(changes, len(changes)), key=turn)
