"""Planted copies: a submission that was handed in again, disguised. What it computes stays the same.

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
