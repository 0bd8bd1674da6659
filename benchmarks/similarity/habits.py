"""How one student spells what others spell otherwise: rewrites that leave what the code computes as it is."""

import ast
import random
from collections.abc import Mapping, Sequence

LEANINGS = (0, 0, 0.3, 0.6, 0.9)
VERY_LOW = (1e9, 1e10, 1e8, 1e12, 1e20)
FUNCTIONS = ("softmax", "mean", "transpose", "relu", "sqrt", "flatten", "unflatten", "log_softmax")
MODULES = ("nn", "F", "torch", "math")


class Habits(ast.NodeTransformer):
    """Rewrites code by a student's habits: each has a leaning, and is followed here and there, as people do."""

    def __init__(self, rng: random.Random, signatures: Mapping[str, Sequence[str]]) -> None:
        """Draws the habits; `signatures` has the parameters of each class of the contract, in order."""
        self.rng, self.signatures = rng, signatures
        self.leanings: dict[str, float] = {}
        self.very_low = rng.choice(VERY_LOW)

    def has(self, habit: str) -> bool:
        """Whether the student follows a habit this time."""
        return self.rng.random() < self.leanings.setdefault(habit, self.rng.choice(LEANINGS))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:  # noqa: N802  ast's names, here and below
        """`dropout(y) + x`, `torch.matmul(a, b)`."""
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Name() as left, ast.Add(), ast.Call() as right) if self.has("turned sums"):
                return ast.BinOp(right, ast.Add(), left)
            case ast.BinOp(left, ast.MatMult(), right) if self.has("matmul"):
                return called("torch.matmul", [left, right])
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:  # noqa: N802
        """The size of `-1e9`."""
        return ast.Constant(self.very_low) if isinstance(node.value, float) and node.value > 1e6 else node

    def visit_Call(self, node: ast.Call) -> ast.expr:  # noqa: N802
        """Keywords for the assignment's components; sizes, roots, and functions of tensors."""
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name(name), [_, *_] as values) if (
                name in self.signatures
                and not any(isinstance(one, ast.Starred) for one in values)
                and self.has("keywords")
            ):
                first = self.rng.randrange(len(values))
                named = zip(self.signatures[name][first:], values[first:], strict=False)
                return ast.Call(node.func, values[:first], [*(ast.keyword(*one) for one in named), *node.keywords])
            case ast.Call(ast.Attribute(ast.Name("math"), "sqrt"), [inner]) if self.has("powers for roots"):
                return ast.BinOp(inner, ast.Pow(), ast.Constant(0.5))
            case ast.Call(ast.Attribute(value, "size"), [index]) if self.has("shape for size"):
                return ast.Subscript(ast.Attribute(value, "shape", ast.Load()), index, ast.Load())
            case ast.Call(ast.Attribute(value, "transpose"), values) if self.has("swapped axes"):
                return ast.Call(ast.Attribute(value, "swapaxes", ast.Load()), values[::-1], [])
            case ast.Call(ast.Attribute(value, method), values) if (
                method in FUNCTIONS
                and not any(isinstance(part, ast.Name) and part.id in MODULES for part in ast.walk(value))
                and self.has("functions for methods")
            ):
                return called(f"torch.{method}", [value, *values], node.keywords)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:  # noqa: N802
        """`x = f(g(y))` in two steps, and arguments that a constructor keeps."""
        self.generic_visit(node)
        body: list[ast.stmt] = []
        for statement in node.body:
            match statement:
                case ast.Assign(
                    [ast.Name(name)], ast.Call(function, [(ast.BinOp() | ast.Call()) as first, *rest]) as made
                ) if not any(mentions(part, name) for part in (function, *rest, *made.keywords)) and self.has("steps"):
                    body.append(ast.Assign([ast.Name(name, ast.Store())], first))
                    made.args[0] = ast.Name(name, ast.Load())
            body.append(statement)
        if node.name == "__init__":
            kept = [one.arg for one in node.args.args[1:] if self.has("kept arguments")]
            self.rng.shuffle(kept)
            body += [ast.parse(f"self.{one}_given = {one}").body[0] for one in kept]
        node.body = body
        return node


def mentions(node: ast.AST, name: str) -> bool:
    """Whether a name occurs in a node."""
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def called(name: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    """A call of a function that is named with its module."""
    return ast.Call(ast.parse(name, mode="eval").body, [*arguments], [*keywords])
