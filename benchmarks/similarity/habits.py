"""How one student spells what others spell otherwise: rewrites that leave what the code computes as it is.

Each student has a leaning to each habit and follows it here and there, as people do.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping, Sequence

NUMBERS = (1e9, 1e10, 1e8, 1e12, 1e20)
HABITS = (
    "turns sums", "swaps axes", "turns axes", "calls matmul", "asks for shape", "asks for size", "powers for roots",
    "functions for methods", "no keyword for dim", "keywords", "steps", "keeps arguments", "appends layers", "indexes",
    "own dropouts", "else after return", "compares with zero", "says not is",
)  # fmt: skip
AS_FUNCTIONS = ("softmax", "mean", "transpose", "relu", "sqrt", "flatten", "unflatten", "log_softmax")
MODULES = ("nn", "F", "torch", "math")

Signatures = Mapping[str, Sequence[str]]
"""The parameters of each class of the contract, in order."""


def signatures_in(trees: Sequence[ast.Module]) -> dict[str, list[str]]:
    """The parameters of the constructors in some modules."""
    return {
        node.name: [argument.arg for argument in method.args.args[1:]]
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and method.name == "__init__"
    }


class Habits(ast.NodeTransformer):
    """Rewrites code by a student's habits."""

    def __init__(self, rng: random.Random, signatures: Signatures) -> None:
        """Draws the habits."""
        self.rng, self.signatures = rng, signatures
        self.leaning = {habit: rng.choice((0, 0, 0.3, 0.6, 0.9)) for habit in HABITS}
        self.very_low = rng.choice(NUMBERS)

    def has(self, habit: str) -> bool:
        """Whether the student follows a habit this time."""
        return self.rng.random() < self.leaning[habit]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:  # noqa: N802  ast's names, here and below
        """`x + dropout(y)`, `a @ b`."""
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Name() as left, ast.Add(), ast.Call() as right) if self.has("turns sums"):
                return ast.BinOp(right, ast.Add(), left)
            case ast.BinOp(left, ast.MatMult(), right) if self.has("calls matmul"):
                return called("torch.matmul", [left, right])
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:  # noqa: N802
        """A very low number, and what may not be attended to."""
        self.generic_visit(node)
        match node:
            case ast.UnaryOp(ast.USub(), ast.Constant(float(value))) if value > 1e6:
                return ast.UnaryOp(ast.USub(), ast.Constant(self.very_low))
            case ast.UnaryOp(ast.Invert(), ast.Name("mask") as mask) if self.has("compares with zero"):
                return ast.Compare(mask, [ast.Eq()], [ast.Constant(0)])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:  # noqa: N802
        """`x is not None`, `not x is None`."""
        self.generic_visit(node)
        match node:
            case ast.Compare(left, [ast.IsNot()], [ast.Constant(None)]) if self.has("says not is"):
                return ast.UnaryOp(ast.Not(), ast.Compare(left, [ast.Is()], [ast.Constant(None)]))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:  # noqa: N802
        """`x.shape[-1]`."""
        self.generic_visit(node)
        match node:
            case ast.Subscript(ast.Attribute(value, "shape"), (ast.Constant() | ast.UnaryOp()) as index) if self.has(
                "asks for size"
            ):
                return ast.Call(ast.Attribute(value, "size", ast.Load()), [index], [])
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:  # noqa: N802
        """Calls of tensors' methods, and of the assignment's components."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name(name), [_, *_] as arguments) if (
                name in self.signatures
                and not any(isinstance(argument, ast.Starred) for argument in arguments)
                and self.has("keywords")
            ):
                first = self.rng.randrange(len(arguments))
                named = zip(self.signatures[name][first:], arguments[first:], strict=False)
                return ast.Call(node.func, arguments[:first], [*(ast.keyword(*one) for one in named), *node.keywords])
            case ast.Call(ast.Attribute(ast.Name("math"), "sqrt"), [inner]) if self.has("powers for roots"):
                return ast.BinOp(inner, ast.Pow(), ast.Constant(0.5))
            case ast.Call(ast.Attribute(value, "size"), [index]) if self.has("asks for shape"):
                return ast.Subscript(ast.Attribute(value, "shape", ast.Load()), index, ast.Load())
        return self.of_tensor(node)

    def of_tensor(self, node: ast.Call) -> ast.expr:
        """A method of a tensor."""
        match node:
            case ast.Call(ast.Attribute(value, "transpose"), [first, second]) if self.has("turns axes"):
                node.args = [second, first]
        match node:
            case ast.Call(ast.Attribute(value, "transpose")) if self.has("swaps axes"):
                node.func = ast.Attribute(value, "swapaxes", ast.Load())
        match node:
            case ast.Call(ast.Attribute(_, "softmax" | "mean"), arguments, [ast.keyword("dim", dim), *rest]) if (
                self.has("no keyword for dim")
            ):
                node.args, node.keywords = [*arguments, dim], rest
        match node:
            case ast.Call(ast.Attribute(value, method), arguments) if (
                method in AS_FUNCTIONS
                and not any(isinstance(part, ast.Name) and part.id in MODULES for part in ast.walk(value))
                and self.has("functions for methods")
            ):
                return called(f"torch.{method}", [value, *arguments], node.keywords)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:  # noqa: N802
        """What a constructor keeps, and how a function ends."""
        self.generic_visit(node)
        node.body = self.in_steps(node.body)
        if node.name == "__init__" and node.body:
            parameters = [one.arg for one in node.args.args[1:] if self.has("keeps arguments")]
            self.rng.shuffle(parameters)
            node.body += [ast.parse(f"self.{one}_given = {one}").body[0] for one in parameters]
        if self.has("else after return"):
            node.body = with_else(node.body)
        return node

    def in_steps(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """`x = f(g(y))` as `x = g(y)` and `x = f(x)`; layers that are appended; a loop over numbers."""
        found: list[ast.stmt] = []
        for statement in body:
            for field in ("body", "orelse"):
                block = getattr(statement, field, None)
                if isinstance(block, list) and block and not isinstance(statement, ast.FunctionDef):
                    setattr(statement, field, self.in_steps(block))
            match statement:
                case ast.Assign(
                    [ast.Name(name)], ast.Call(function, [(ast.BinOp() | ast.Call()) as first, *rest]) as made
                ) if not any(mentions(part, name) for part in (function, *rest, *made.keywords)) and self.has("steps"):
                    found.append(ast.Assign([ast.Name(name, ast.Store())], first))
                    made.args[0] = ast.Name(name, ast.Load())
                case ast.Assign([ast.Attribute() as target], ast.Call(function, [inner_loop])) if (
                    isinstance(inner_loop, (ast.ListComp, ast.GeneratorExp))
                    and ast.unparse(function) == "nn.ModuleList"
                    and self.has("appends layers")
                ):
                    found += [ast.Assign([target], ast.Call(function, [], [])), appending_loop(target, inner_loop)]
                    continue
                case ast.For(ast.Name(name), ast.Attribute() as layers, inner) if self.has("indexes"):
                    one = ast.parse(f"{name} = {ast.unparse(layers)}[n]").body
                    numbers = ast.parse(f"range(len({ast.unparse(layers)}))", mode="eval").body
                    statement = ast.For(ast.Name("n", ast.Store()), numbers, [*one, *inner], [])
            found.append(statement)
        return found

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:  # noqa: N802
        """A dropout for each place that uses one."""
        self.generic_visit(node)
        uses = [
            one
            for one in ast.walk(node)
            if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load) and ast.unparse(one) == "self.dropout"
        ]
        if self.has("own dropouts"):
            for method in (one for one in node.body if isinstance(one, ast.FunctionDef)):
                for place, statement in enumerate(method.body):
                    match statement:
                        case ast.Assign([ast.Attribute(ast.Name("self"), "dropout")], ast.Call() as made):
                            text = ast.unparse(made)
                            more = [ast.parse(f"self.dropout{n} = {text}").body[0] for n in range(1, len(uses) + 1)]
                            method.body[place : place + 1] = more
                            for number, use in enumerate(uses, 1):
                                use.attr = f"dropout{number}"
                            return node
        return node


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a name occurs in a node."""
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def appending_loop(target: ast.expr, made: ast.ListComp | ast.GeneratorExp) -> ast.stmt:
    """`for …: target.append(…)`."""
    part = made.generators[0]
    append = ast.Expr(called(f"{ast.unparse(target)}.append", [made.elt]))
    return ast.For(part.target, part.iter, [append], [])


def with_else(body: list[ast.stmt]) -> list[ast.stmt]:
    """What follows `if …: return` becomes its `else`."""
    for place, statement in enumerate(body[:-1]):
        match statement:
            case ast.If(_, [*_, ast.Return()], []):
                statement.orelse = body[place + 1 :]
                return body[: place + 1]
    return body


def called(name: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    """A call of a function that is named with its module."""
    return ast.Call(ast.parse(name, mode="eval").body, [*arguments], [*keywords])
