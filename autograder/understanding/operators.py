"""Mutation operators: small changes of a syntax tree that a programmer might make by mistake.

They know nothing of Transformers, so they find faults that the authors of the catalogue did not think of. Questions
about a student's code and the proof by mutants use the same ones.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Names:
    """Names that may be mistaken for one another where the mutated code stands: variables, attributes of self."""

    variables: frozenset[str]
    attributes: frozenset[str]


Mutations = Iterator[ast.AST]
Operator = Callable[[ast.AST, Names], Mutations]

ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS = {
    ast.Eq: (ast.NotEq, ast.LtE),
    ast.NotEq: (ast.Eq, ast.Lt),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
FUNCTIONS = {
    "abs": ("square",),
    "append": ("extend",),
    "arange": ("ones",),
    "eval": ("train",),
    "exp": ("log",),
    "max": ("min",),
    "mean": ("sum", "median"),
    "min": ("max",),
    "ModuleList": ("Sequential", "list"),
    "ones": ("zeros", "rand"),
    "Parameter": ("Buffer", "Identity"),
    "rand": ("randn", "ones"),
    "relu": ("sigmoid", "tanh", "selu"),
    "softmax": ("log_softmax", "softmin"),
    "sqrt": ("exp",),
    "square": ("abs",),
    "sum": ("mean", "max"),
    "train": ("eval",),
    "zeros": ("ones", "rand"),
    "zero_grad": ("step",),
}


def changed(node: ast.AST, **fields: object) -> ast.AST:
    """A copy with other fields."""
    other = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def arithmetic(node: ast.AST, names: Names) -> Mutations:
    """Another operator."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC:
        yield changed(node, op=ARITHMETIC[type(node.op)]())


def operands(node: ast.AST, names: Names) -> Mutations:
    """Operands exchanged, and each on its own."""
    if isinstance(node, ast.BinOp):
        yield changed(node, left=node.right, right=node.left)
        yield node.left
        yield node.right


def unary(node: ast.AST, names: Names) -> Mutations:
    """Without the sign, `not` or `~`."""
    if isinstance(node, ast.UnaryOp):
        yield node.operand


def constants(node: ast.AST, names: Names) -> Mutations:
    """Other numbers and truth values."""
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield from (ast.Constant(value) for value in (node.value + 1, node.value - 1))
    elif isinstance(node.value, float):
        yield from (ast.Constant(value) for value in (node.value * 2 + 1, -node.value))


def comparisons(node: ast.AST, names: Names) -> Mutations:
    """Another comparison."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from (changed(node, ops=[other()]) for other in COMPARISONS.get(type(node.ops[0]), ()))


def conditions(node: ast.AST, names: Names) -> Mutations:
    """The condition negated, always true, always false; `and` for `or`."""
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        for test in (ast.UnaryOp(ast.Not(), node.test), ast.Constant(True), ast.Constant(False)):
            yield changed(node, test=test)
    if isinstance(node, ast.BoolOp):
        yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def statements(node: ast.AST, names: Names) -> Mutations:
    """A statement left out; `break` for `continue`."""
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.For, ast.If)):
        yield ast.Pass()
    if isinstance(node, ast.Break):
        yield from (ast.Continue(), ast.Pass())
    if isinstance(node, ast.Continue):
        yield from (ast.Break(), ast.Pass())


def arguments(node: ast.AST, names: Names) -> Mutations:
    """Arguments swapped or left out; the first of them in the place of the call."""
    if not isinstance(node, ast.Call):
        return
    for index in range(len(node.args) - 1):
        swapped = [*node.args[:index], node.args[index + 1], node.args[index], *node.args[index + 2 :]]
        yield changed(node, args=swapped)
    for index in range(len(node.args)):
        yield changed(node, args=node.args[:index] + node.args[index + 1 :])
    for index in range(len(node.keywords)):
        yield changed(node, keywords=node.keywords[:index] + node.keywords[index + 1 :])
    if node.args and not isinstance(node.args[0], ast.Starred):
        yield node.args[0]
    if isinstance(node.func, ast.Attribute):
        yield node.func.value


def functions(node: ast.AST, names: Names) -> Mutations:
    """Another function of the same kind."""
    if isinstance(node, ast.Attribute):
        yield from (changed(node, attr=other) for other in FUNCTIONS.get(node.attr, ()))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from (changed(node, id=other) for other in FUNCTIONS.get(node.id, ()))


def orders(node: ast.AST, names: Names) -> Mutations:
    """The elements of a tuple or list in another order, or without one; a loop backwards."""
    if isinstance(node, (ast.Tuple, ast.List)) and not any(isinstance(item, ast.Slice) for item in node.elts):
        for index in range(len(node.elts) - 1):
            swapped = [*node.elts[:index], node.elts[index + 1], node.elts[index], *node.elts[index + 2 :]]
            yield changed(node, elts=swapped)
        if len(node.elts) == 1:
            yield changed(node, elts=[])
    if isinstance(node, ast.For):
        backwards = ast.Call(ast.Name("reversed"), [ast.Call(ast.Name("list"), [node.iter], [])], [])
        yield changed(node, iter=backwards)


def indices(node: ast.AST, names: Names) -> Mutations:
    """Without an index; a slice without one of its ends."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value
    if isinstance(node, ast.Slice):
        if node.lower is not None:
            yield changed(node, lower=None)
        if node.upper is not None:
            yield changed(node, upper=None)


def wrong_names(node: ast.AST, names: Names) -> Mutations:
    """Another variable, another attribute of self."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names.variables:
        yield from (changed(node, id=other) for other in sorted(names.variables - {node.id}))
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and own_attribute(node) in names.attributes:
        yield from (changed(node, attr=other) for other in sorted(names.attributes - {node.attr}))


def detached(node: ast.AST, names: Names) -> Mutations:
    """A result that no gradient passes."""
    if isinstance(node, ast.BinOp):
        is_tensor = not isinstance(node.op, (ast.Mod, ast.FloorDiv))
    else:
        is_tensor = isinstance(node, ast.Call) and own_attribute(node.func) != ""
    if is_tensor and isinstance(node, ast.expr):
        yield ast.Call(ast.Attribute(node, "detach"), [], [])


def own_attribute(node: ast.AST) -> str:
    """The name in `self.name`; "" for any other node."""
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if is_own and isinstance(node, ast.Attribute) else ""


OPERATORS: tuple[Operator, ...] = (
    arithmetic,
    operands,
    unary,
    constants,
    comparisons,
    conditions,
    statements,
    arguments,
    functions,
    orders,
    indices,
    wrong_names,
    detached,
)
