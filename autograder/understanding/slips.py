"""One-line changes of a student's code: slips that a programmer might make, each by the syntax tree alone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
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
MOST_AXES, MOST_ARGUMENTS = 4, 3

Arguments = Mapping[str, str]
"""A function's arguments, with their annotations: only those of one kind are taken for one another."""
Replacement = tuple[ast.expr, ast.expr]
"""An expression, and what takes its place: another part of the code, or a new expression."""

Slip = Callable[[ast.expr, Arguments], Iterator[Replacement]]


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
    names = arguments_of(statement.function)
    is_call = isinstance(statement.node, ast.Expr)
    if is_call:
        yield left_out.__name__, with_code(text, statement.node, "pass")
    for node in expressions_in(statement.node):
        for slip in SLIPS:
            if not (is_call and slip is left_out and node is getattr(statement.node, "value", None)):
                for place, other in slip(node, names):
                    yield slip.__name__, with_expression(text, statement.node, place, other)


def arguments_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Arguments:
    """The arguments but `self`; where there is no annotation, the default tells whether None may be passed."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + [*arguments.defaults]
    pairs = [*zip(plain, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return {
        one.arg: ast.unparse(one.annotation or default or ast.Constant(""))
        for one, default in pairs
        if one.arg != "self"
    }


def expressions_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates in its own function, the outer ones first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*NESTED, ast.JoinedStr)):
            continue
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), (ast.Store, ast.Del)):
            yield child
        yield from expressions_in(child)


def other_operator(node: ast.expr, names: Arguments) -> Iterator[Replacement]:
    """`*` for `/`, `+` for `-`, and the other way round."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield node, ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)


def left_out(node: ast.expr, names: Arguments) -> Iterator[Replacement]:
    """An operand, a sign, or a step that is not taken."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        yield from ((node, node.left), (node, node.right))
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node, node.operand
    elif isinstance(node, ast.Call) and len(node.args) + len(node.keywords) <= MOST_ARGUMENTS:
        if isinstance(node.func, ast.Attribute) and is_tensor(node.func.value):
            yield node, node.func.value
        elif node.args and not isinstance(node.args[0], (ast.Starred, ast.Constant)) and not makes(node):
            yield node, node.args[0]


def other_axis(node: ast.expr, names: Arguments) -> Iterator[Replacement]:
    """The axis beside the one that is meant."""
    if isinstance(node, ast.Call):
        values = [keyword.value for keyword in node.keywords if keyword.arg in SIZED]
        values += node.args if isinstance(node.func, ast.Attribute) else []
        for value in values:
            number = axis_of(value)
            if number is not None:
                other = number - 1 if number < 0 else number + 1
                yield value, ast.UnaryOp(ast.USub(), ast.Constant(-other)) if other < 0 else ast.Constant(other)


def other_option(node: ast.expr, names: Arguments) -> Iterator[Replacement]:
    """An option turned round."""
    if isinstance(node, ast.Call):
        for value in (keyword.value for keyword in node.keywords):
            if isinstance(value, ast.Constant) and isinstance(value.value, bool):
                yield value, ast.Constant(not value.value)


def other_comparison(node: ast.expr, names: Arguments) -> Iterator[Replacement]:
    """Another comparison."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        yield node, ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)


def other_function(node: ast.expr, names: Arguments) -> Iterator[Replacement]:
    """A function beside the one that is meant."""
    if isinstance(node, ast.Attribute) and node.attr in RELATED:
        yield node, ast.Attribute(node.value, RELATED[node.attr], ast.Load())


def other_argument(node: ast.expr, names: Arguments) -> Iterator[Replacement]:
    """One of the function's other arguments, or None where one is passed on."""
    places: list[ast.expr] = []
    if isinstance(node, ast.Call):
        places = node.args
    elif isinstance(node, ast.BinOp):
        places = [node.left, node.right]
    for place in places:
        if isinstance(place, ast.Name) and place.id in names:
            kind = names[place.id]
            others = [name for name in names if name != place.id and names[name] == kind]
            yield from ((place, ast.Name(name, ast.Load())) for name in others)
            if isinstance(node, ast.Call) and kind.endswith("None"):
                yield place, ast.Constant(None)


def detached(node: ast.expr, names: Arguments) -> Iterator[Replacement]:
    """A result that no gradient passes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.MatMult)):
        yield node.left, ast.Call(ast.Attribute(node.left, "detach", ast.Load()), [], [])


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


def makes(node: ast.Call) -> bool:
    """Whether a call makes a layer or a parameter: by its capital letter."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name[:1].isupper()


def is_tensor(node: ast.expr) -> bool:
    """Whether a method of this expression is a step of a computation, as far as one can tell."""
    return not isinstance(node, (ast.Call, ast.Attribute)) and getattr(node, "id", "") not in LIBRARIES


def axis_of(node: ast.expr) -> int | None:
    """A small whole number, as it stands in the code."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if type(value) is int and abs(value) <= MOST_AXES else None
