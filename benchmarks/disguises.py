"""Rewrites of a submission that leave what it computes as it is: a copy in disguise, and a student's own habits.

renamed      locals, attributes, methods           reformatted  layout, comments and docstrings
reordered    methods, assignments                  loops        list comprehensions become loops that append
"""

import ast
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

KINDS = ("renamed", "reordered", "reformatted", "loops")
FIXED = {"forward", "generate", "encode", "decode", "get_predictions", "training", "weight", "bias", "self"}
WORDS = ("out", "tmp", "value", "thing", "part", "item", "res", "cur", "block", "piece", "aux", "inner", "proj", "val")
REMARKS = ("now the next step", "see the lecture", "this took a while", "as in the paper", "shapes are fine here")


def disguised(modules: Mapping[str, str], kinds: Iterable[str], rng: random.Random) -> dict[str, str]:
    """A copy of a submission, the text of each file, disguised in these ways."""
    trees = {name: ast.parse(text) for name, text in modules.items()}
    for kind, change in (("loops", rewrite_loops), ("renamed", rename), ("reordered", reorder)):
        if kind in kinds:
            change([*trees.values()], rng)
    texts = {name: ast.unparse(ast.fix_missing_locations(tree)) + "\n" for name, tree in trees.items()}
    return {name: reformat(text, rng) for name, text in texts.items()} if "reformatted" in kinds else texts


def nodes_of(trees: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of some trees."""
    return (node for tree in trees for node in ast.walk(tree))


def rename(trees: Sequence[ast.Module], rng: random.Random) -> None:
    """Gives other names to what the author has named in classes: locals, attributes of `self`, and methods."""
    own, others = set[str](), set(FIXED)
    classes = [one for tree in trees for one in tree.body if isinstance(one, ast.ClassDef)]
    for node in nodes_of(classes):
        match node:
            case ast.Name(name, ast.Store()) | ast.Attribute(ast.Name("self"), name, ast.Store()):
                own.add(name)
            case ast.FunctionDef(name):
                own.add(name)
    for node in nodes_of(trees):
        match node:
            case ast.arg(name) | ast.Constant(str(name)):  # a text may name an attribute, as in `hasattr`
                others.add(name)
            case ast.Attribute(value, name) if not (isinstance(value, ast.Name) and value.id == "self"):
                others.add(name)
    others |= {one.id for one in nodes_of([one for tree in trees for one in tree.body if one not in classes])
               if isinstance(one, ast.Name)}  # fmt: skip
    chosen = sorted(name for name in own - others if not name.startswith("__"))
    names = {name: f"{rng.choice(WORDS)}_{number}" for number, name in enumerate(chosen)}
    for node in nodes_of(classes):
        match node:
            case ast.Name(name):
                node.id = names.get(name, name)
            case ast.Attribute(ast.Name("self"), name):
                node.attr = names.get(name, name)
            case ast.FunctionDef(name):
                node.name = names.get(name, name)


def reorder(trees: Sequence[ast.Module], rng: random.Random) -> None:
    """Another order of methods, and of neighbouring assignments to attributes that use none of these attributes."""
    for node in nodes_of(trees):
        if isinstance(node, ast.ClassDef):
            methods = [place for place, one in enumerate(node.body) if isinstance(one, ast.FunctionDef)]
            shuffled = [node.body[place] for place in rng.sample(methods, len(methods))]
            for place, method in zip(methods, shuffled, strict=True):
                node.body[place] = method
        elif isinstance(node, ast.FunctionDef):
            for place in 2 * [*range(len(node.body) - 1)]:
                pair = node.body[place : place + 2]
                if all(assigns_attribute(one) for one in pair) and rng.random() < 0.5:
                    node.body[place : place + 2] = pair[::-1]


def assigns_attribute(statement: ast.stmt) -> bool:
    """Whether a statement is `self.name = …`, and uses no other attribute of `self`."""
    match statement:
        case ast.Assign([ast.Attribute(ast.Name("self"))], value):
            return not any(isinstance(one, ast.Name) and one.id == "self" for one in ast.walk(value))
    return False


def reformat(text: str, rng: random.Random) -> str:
    """No docstrings, and other comments, blank lines and indentation."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) and len(node.body) > 1:
            del node.body[0]
    lines = []
    for line in ast.unparse(tree).split("\n"):
        indent = "  " * ((len(line) - len(line.lstrip())) // 4)
        lines += [rng.choice(("", f"{indent}# {rng.choice(REMARKS)}"))] if rng.random() < 0.25 else []
        lines.append(indent + line.lstrip())
    return "\n".join(lines) + "\n"


def rewrite_loops(trees: Sequence[ast.Module], rng: random.Random) -> None:
    """`x = […]` and `x = f([…])` with a list comprehension become a loop that appends to a list, and `x = f(list)`."""
    for function in [node for node in nodes_of(trees) if isinstance(node, ast.FunctionDef)]:
        body: list[ast.stmt] = []
        for statement in function.body:
            match statement:
                case (
                    ast.Assign(value=ast.ListComp() as made) | ast.Assign(value=ast.Call(args=[ast.ListComp() as made]))
                ):
                    name, part = f"gathered{rng.randrange(10**6)}", made.generators[0]
                    if len(made.generators) == 1 and not part.ifs:
                        append: ast.stmt = ast.Expr(
                            ast.Call(ast.parse(f"{name}.append", mode="eval").body, [made.elt], [])
                        )
                        body += [*ast.parse(f"{name} = []").body, ast.For(part.target, part.iter, [append], [])]
                        statement = ast.parse(ast.unparse(statement).replace(ast.unparse(made), name)).body[0]
            body.append(statement)
        function.body = body


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
