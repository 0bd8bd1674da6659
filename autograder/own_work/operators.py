"""Mutation operators: small changes of a syntax tree that a programmer might make by mistake.

They know nothing of Transformers, so they find faults that the authors of the catalogue did not think of. Questions
about a student's code and the proof by mutants use the same ones.
"""

import ast
import copy
import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ARITHMETIC = {getattr(ast, name): getattr(ast, other) for name, other in TABLES["arithmetic"].items()}
COMPARISONS = {getattr(ast, name): [getattr(ast, o) for o in others] for name, others in TABLES["comparisons"].items()}
FUNCTIONS = TABLES["functions"]


def mutations(node: ast.AST, variables: Collection[str], attributes: Collection[str]) -> Iterator[tuple[str, ast.AST]]:
    """The mistakes that might be made in a node, without those in its parts: the operator, and what stands there then.

    Variables, and attributes of `self`, are names that may be mistaken for one another where it stands.
    """
    match node:
        case ast.BinOp(left, op, right):
            if type(op) in ARITHMETIC:
                yield "arithmetic", changed(node, op=ARITHMETIC[type(op)]())
            for other in (changed(node, left=right, right=left), left, right):
                yield "operands", other
            if not isinstance(op, (ast.Mod, ast.FloorDiv)):
                yield "detached", detached(node)
        case ast.UnaryOp(_, operand):
            yield "unary", operand
        case ast.Constant(bool(value)):
            yield "constants", ast.Constant(not value)
        case ast.Constant(int(value)):
            yield "constants", ast.Constant(value + 1)
            yield "constants", ast.Constant(value - 1)
        case ast.Constant(float(value)):
            yield "constants", ast.Constant(value * 2 + 1)
            yield "constants", ast.Constant(-value)
        case ast.Compare(ops=[op]):
            for comparison in COMPARISONS.get(type(op), ()):
                yield "comparisons", changed(node, ops=[comparison()])
        case ast.BoolOp(op):
            yield "conditions", changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.IfExp(test) | ast.If(test) | ast.While(test):
            for condition in (ast.UnaryOp(ast.Not(), test), ast.Constant(True), ast.Constant(False)):
                yield "conditions", changed(node, test=condition)
        case ast.Call(func, args, keywords):
            for some in (*exchanged(args), *shortened(args)):
                yield "arguments", changed(node, args=some)
            for some in shortened(keywords):
                yield "arguments", changed(node, keywords=some)
            if args and not isinstance(args[0], ast.Starred):
                yield "arguments", args[0]
            if isinstance(func, ast.Attribute):
                yield "arguments", func.value
            if own_attribute(func):
                yield "detached", detached(node)
        case ast.Name(name, ast.Load()):
            for function in FUNCTIONS.get(name, ()):
                yield "functions", changed(node, id=function)
            for variable in sorted({*variables} - {name}) if name in variables else ():
                yield "wrong_names", changed(node, id=variable)
        case ast.Attribute(_, name, context):
            for function in FUNCTIONS.get(name, ()):
                yield "functions", changed(node, attr=function)
            is_read = isinstance(context, ast.Load) and own_attribute(node) in attributes
            for attribute in sorted({*attributes} - {name}) if is_read else ():
                yield "wrong_names", changed(node, attr=attribute)
        case ast.Tuple(items) | ast.List(items) if not any(isinstance(item, ast.Slice) for item in items):
            for some in [*exchanged(items), *([[]] if len(items) == 1 else [])]:
                yield "orders", changed(node, elts=some)
        case ast.Subscript(value, ctx=ast.Load()):
            yield "indices", value
        case ast.Slice(lower, upper):
            if lower is not None:
                yield "indices", changed(node, lower=None)
            if upper is not None:
                yield "indices", changed(node, upper=None)
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield "arithmetic", changed(node, op=ARITHMETIC[type(op)]())
    match node:
        case ast.Assign() | ast.AugAssign() | ast.Expr() | ast.Return() | ast.Raise() | ast.For() | ast.If():
            yield "statements", ast.Pass()
        case ast.Break() | ast.Continue():
            yield "statements", ast.Continue() if isinstance(node, ast.Break) else ast.Break()
            yield "statements", ast.Pass()
    if isinstance(node, ast.For):
        backwards = ast.Call(ast.Name("reversed"), [ast.Call(ast.Name("list"), [node.iter], [])], [])
        yield "orders", changed(node, iter=backwards)


def changed(node: ast.AST, **fields: object) -> ast.AST:
    """A copy with other fields."""
    other = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def exchanged(items: Sequence[ast.AST]) -> Iterator[list[ast.AST]]:
    """The items with two neighbours in each other's place."""
    for index in range(len(items) - 1):
        yield [*items[:index], items[index + 1], items[index], *items[index + 2 :]]


def shortened(items: Sequence[ast.AST]) -> Iterator[list[ast.AST]]:
    """The items without one of them."""
    for index in range(len(items)):
        yield [*items[:index], *items[index + 1 :]]


def detached(node: ast.expr) -> ast.expr:
    """A result that no gradient passes."""
    return ast.Call(ast.Attribute(node, "detach"), [], [])


def own_attribute(node: ast.AST) -> str:
    """The name in `self.name`; "" for any other node."""
    match node:
        case ast.Attribute(ast.Name("self"), name):
            return name
    return ""
