"""One-line changes of a student's code: slips that a programmer might make, each by the syntax tree alone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .own_code import NESTED, Statement, with_code, with_expression

LIBRARIES = {"torch", "nn", "F", "math", "np", "self", "super"}
"""Names that are no tensors: what is called on them is no step that could be left out."""
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Sub: ast.Add}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
RELATED = {
    "relu": "tanh",
    "mean": "sum",
    "softmax": "log_softmax",
    "sqrt": "square",
    "ones": "zeros",
    "zeros": "ones",
    "tril": "triu",
    "triu": "tril",
    "train": "eval",
    "Softmax": "LogSoftmax",
    "ReLU": "Tanh",
}
SIZED = {"dim", "axis"}

Slip = Callable[[ast.expr, Sequence[str]], Iterator[ast.expr]]


@dataclass(frozen=True)
class Change:
    """A change of one line.

    Attributes:
        module: where it is.
        line: its number.
        before: the line as it is.
        after: the line as it would be.
        text: the whole module with it.
        kind: of slip.
    """

    module: str
    line: int
    before: str
    after: str
    text: str
    kind: str


def changes_of(text: str, statements: Sequence[Statement]) -> list[Change]:
    """All changes of statements that stand on one line of a module's text, each line once.

    Args:
        text: the module's.
        statements: of it.
    """
    found: dict[tuple[int, str], Change] = {}
    lines = text.split("\n")
    for statement in statements:
        if len(statement.lines) > 1:
            continue
        line = statement.node.lineno
        before = lines[line - 1].strip()
        for kind, changed in _versions(text, statement):
            after = changed.split("\n")[line - 1].strip() if changed else ""
            if changed and after != before:
                found.setdefault((line, after), Change(statement.module, line, before, after, changed, kind))
    return list(found.values())


def _versions(text: str, statement: Statement) -> Iterator[tuple[str, str | None]]:
    """The kind of each slip, and the module's text with it."""
    arguments = statement.function.args
    names = [one.arg for one in (*arguments.args, *arguments.kwonlyargs) if one.arg != "self"]
    is_call = isinstance(statement.node, ast.Expr)
    if is_call:
        yield left_out.__name__, with_code(text, statement.node, "pass")
    for node in expressions_in(statement.node):
        for slip in SLIPS:
            if not (is_call and slip is left_out and node is getattr(statement.node, "value", None)):
                for other in slip(node, names):
                    yield slip.__name__, with_expression(text, node, other)


def expressions_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates in its own function, the outer ones first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*NESTED, ast.JoinedStr)):
            continue
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), (ast.Store, ast.Del)):
            yield child
        yield from expressions_in(child)


def _with(node: ast.expr, **fields: object) -> ast.expr:
    other = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def other_operator(node: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """`*` for `/`, `+` for `-`, and the other way round."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield _with(node, op=OPERATORS[type(node.op)]())


def left_out(node: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """An operand, a sign, or a step that is not taken."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        yield from (node.left, node.right)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node.operand
    elif isinstance(node, ast.Call) and len(node.args) + len(node.keywords) <= 3:
        if (
            isinstance(node.func, ast.Attribute)
            and not (isinstance(node.func.value, ast.Name) and node.func.value.id in LIBRARIES)
            and not isinstance(node.func.value, ast.Call | ast.Attribute)
        ):
            yield node.func.value
        elif node.args and not isinstance(node.args[0], (ast.Starred, ast.Constant)) and not _makes(node):
            yield node.args[0]


def other_axis(node: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """The axis beside the one that is meant."""
    if not isinstance(node, ast.Call):
        return
    for index, keyword in enumerate(node.keywords):
        value = _integer(keyword.value)
        if keyword.arg in SIZED and value is not None:
            other = ast.keyword(keyword.arg, _number(value - 1 if value < 0 else value + 1))
            yield _with(node, keywords=[*node.keywords[:index], other, *node.keywords[index + 1 :]])
    for index, argument in enumerate(node.args):
        value = _integer(argument)
        if value is not None and isinstance(node.func, ast.Attribute):
            other_argument = _number(value - 1 if value < 0 else value + 1)
            yield _with(node, args=[*node.args[:index], other_argument, *node.args[index + 1 :]])


def other_option(node: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """An option turned round or left out."""
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool):
                yield _with(node, keywords=[*node.keywords[:index], *node.keywords[index + 1 :]])


def other_comparison(node: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """Another comparison."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        yield _with(node, ops=[COMPARISONS[type(node.ops[0])]()])


def other_function(node: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """A function beside the one that is meant."""
    if isinstance(node, ast.Attribute) and node.attr in RELATED:
        yield _with(node, attr=RELATED[node.attr])


def other_argument(node: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """One of the function's other arguments; None in place of the last one that is passed on."""
    if isinstance(node, ast.Call):
        for index, argument in enumerate(node.args):
            if isinstance(argument, ast.Name) and argument.id in names:
                for name in [*names, "None"]:
                    if name != argument.id:
                        other: ast.expr = ast.Constant(None) if name == "None" else ast.Name(name, ast.Load())
                        yield _with(node, args=[*node.args[:index], other, *node.args[index + 1 :]])
    elif isinstance(node, ast.BinOp):
        for side in ("left", "right"):
            operand = getattr(node, side)
            if isinstance(operand, ast.Name) and operand.id in names:
                yield from (_with(node, **{side: ast.Name(n, ast.Load())}) for n in names if n != operand.id)


def detached(node: ast.expr, names: Sequence[str]) -> Iterator[ast.expr]:
    """A result that no gradient passes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.MatMult)):
        yield _with(node, left=ast.Call(ast.Attribute(copy.deepcopy(node.left), "detach", ast.Load()), [], []))


SLIPS: tuple[Slip, ...] = (
    other_operator,
    left_out,
    other_axis,
    other_option,
    other_comparison,
    other_function,
    other_argument,
    detached,
)


def _makes(node: ast.Call) -> bool:
    """Whether a call makes a layer or a parameter: by its capital letter."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name[:1].isupper()


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if type(value) is int and abs(value) < 5 else None


def _number(value: int) -> ast.expr:
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)
