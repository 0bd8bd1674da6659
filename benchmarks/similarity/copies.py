"""Planted copies: a submission that was handed in again, disguised. What it computes stays the same.

renamed      local names, attributes, methods      reformatted  layout, comments and docstrings
reordered    methods, assignments                  loops        `for` and `while`, comprehensions
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Mapping

KINDS = ("renamed", "reordered", "reformatted", "loops")
Modules = Mapping[str, str]
"""A submission: the text of each file."""

FIXED = {"forward", "generate", "encode", "decode", "get_predictions", "training", "weight", "bias"}
WORDS = ("out", "tmp", "value", "thing", "part", "item", "res", "cur", "block", "piece", "aux", "inner", "proj", "val")
REMARKS = ("now the next step", "see the lecture", "this took a while", "as in the paper", "shapes are fine here")


def disguised(modules: Modules, kinds: Iterable[str], rng: random.Random) -> dict[str, str]:
    """A copy of a submission, disguised in these ways."""
    trees = {name: ast.parse(text) for name, text in modules.items()}
    for kind, change in (("loops", rewrite_loops), ("renamed", rename), ("reordered", reorder)):
        if kind in kinds:
            change(trees.values(), rng)
    texts = {name: ast.unparse(ast.fix_missing_locations(tree)) + "\n" for name, tree in trees.items()}
    if "reformatted" in kinds:
        texts = {name: reformat(text, rng) for name, text in texts.items()}
    return texts


def rename(trees: Iterable[ast.Module], rng: random.Random) -> None:
    """Gives other names to attributes of `self`, to methods that are the author's own, and to locals."""
    trees = list(trees)
    stored, elsewhere, methods = set[str](), set[str](), set[str]()
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.Attribute(ast.Name("self"), name, ctx):
                stored.update([name] if isinstance(ctx, ast.Store) else [])
            case ast.Attribute(_, name) | ast.Constant(str(name)):  # as in `hasattr(self, "name")`
                elsewhere.add(name)
            case ast.ClassDef(body=body):
                methods |= {one.name for one in body if isinstance(one, ast.FunctionDef)}
    own = sorted((stored | methods) - elsewhere - FIXED)
    names = {name: f"{rng.choice(WORDS)}_{number}" for number, name in enumerate(own) if not name.startswith("__")}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                node.attr = names.get(node.attr, node.attr)
            elif isinstance(node, ast.ClassDef):
                for one in node.body:
                    if isinstance(one, ast.FunctionDef):
                        one.name = names.get(one.name, one.name)
        for function in outer_functions(tree):
            rename_locals(function, rng)


def outer_functions(tree: ast.Module) -> Iterable[ast.FunctionDef]:
    """Functions and methods, without those inside functions."""
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (one for one in inner if isinstance(one, ast.FunctionDef))


def rename_locals(function: ast.FunctionDef, rng: random.Random) -> None:
    """Other names for what a function binds, but its parameters."""
    fixed = {part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)} | {"self"}
    bound = {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    inner = [one for one in ast.walk(function) if isinstance(one, (ast.FunctionDef, ast.Lambda))]
    for one in (one for one in inner if one is not function):
        bound |= {part.arg for part in ast.walk(one.args) if isinstance(part, ast.arg)}
        bound |= {one.name} if isinstance(one, ast.FunctionDef) else set()
    names = {name: f"{rng.choice(WORDS)}{number}" for number, name in enumerate(sorted(bound - fixed))}
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, ast.FunctionDef) and node is not function:
            node.name = names.get(node.name, node.name)


def reorder(trees: Iterable[ast.Module], rng: random.Random) -> None:
    """Another order of methods, and of neighbouring assignments that do not depend on one another."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                methods = [place for place, one in enumerate(node.body) if isinstance(one, ast.FunctionDef)]
                shuffled = [node.body[place] for place in rng.sample(methods, len(methods))]
                for place, method in zip(methods, shuffled, strict=True):
                    node.body[place] = method
            for field in ("body", "orelse"):
                block = getattr(node, field, None)
                if isinstance(block, list) and not isinstance(node, ast.Module):
                    shuffle_independent(block, rng)


def shuffle_independent(block: list[ast.stmt], rng: random.Random) -> None:
    """Swaps neighbouring assignments at random, where neither uses what the other one binds."""
    for _ in range(2 * len(block)):
        for place in range(len(block) - 1):
            first, second = block[place], block[place + 1]
            both_assign = isinstance(first, ast.Assign) and isinstance(second, ast.Assign)
            if both_assign and are_independent(first, second) and rng.random() < 0.5:
                block[place], block[place + 1] = second, first


def are_independent(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether two assignments may change places."""
    (read, bound), (read_then, bound_then) = used_in(first), used_in(second)
    return not (bound & (read_then | bound_then) or read & bound_then)


def used_in(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The names and attributes of `self` that a statement reads, and those that it binds."""
    read, bound = set[str](), set[str]()
    for node in ast.walk(statement):
        match node:
            case ast.Name(name, ctx) if name != "self":
                (read if isinstance(ctx, ast.Load) else bound).add(name)
            case ast.Attribute(ast.Name("self"), name, ctx):
                (read if isinstance(ctx, ast.Load) else bound).add(f"self.{name}")
            case ast.Attribute(inner, _, ast.Store()) | ast.Subscript(inner, _, ast.Store()):
                bound.update(one.id for one in ast.walk(inner) if isinstance(one, ast.Name))
    return read, bound


def reformat(text: str, rng: random.Random) -> str:
    """Other comments, docstrings, blank lines and indentation."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                node.body = node.body[1:]
            elif rng.random() < 0.3:
                node.body.insert(0, ast.Expr(ast.Constant(rng.choice(REMARKS))))
    lines = []
    for line in ast.unparse(ast.fix_missing_locations(tree)).split("\n"):
        indent = len(line) - len(line.lstrip())
        if line.strip() and rng.random() < 0.15:
            lines.append(f"{line[:indent]}# {rng.choice(REMARKS)}")
        if rng.random() < 0.1:
            lines.append("")
        lines.append("  " * (indent // 4) + line.lstrip())
    return "\n".join(lines) + "\n"


def rewrite_loops(trees: Iterable[ast.Module], rng: random.Random) -> None:
    """Comprehensions as loops, loops that append as comprehensions, loops over a range with `while`."""
    for tree in trees:
        for function in outer_functions(tree):
            function.body = rewritten(function.body, rng)


def rewritten(body: list[ast.stmt], rng: random.Random) -> list[ast.stmt]:
    """The statements of a block with their loops rewritten."""
    found: list[ast.stmt] = []
    for statement in body:
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for field in ("body", "orelse"):
                block = getattr(statement, field, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    setattr(statement, field, rewritten(block, rng))
        for change in LOOPS:
            made = change(found, statement, rng)
            if made is not None:
                found = made
                break
        else:
            found.append(statement)
    return found


def comprehension_as_loop(before: list[ast.stmt], statement: ast.stmt, rng: random.Random) -> list[ast.stmt] | None:
    """`x = […]`, and the first list comprehension in an assignment or a return."""
    if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)):
        return None
    for node in ast.walk(statement):
        if isinstance(node, ast.Lambda):
            return None
    for node in ast.walk(statement):
        for name, value in ast.iter_fields(node):
            values = value if isinstance(value, list) else [value]
            for place, one in enumerate(values):
                if isinstance(one, ast.ListComp) and len(one.generators) == 1 and not is_inside(one, statement):
                    target = f"gathered{rng.randrange(10**6)}"
                    part = one.generators[0]
                    append = ast.Attribute(ast.Name(target, ast.Load()), "append", ast.Load())
                    inner: list[ast.stmt] = [ast.Expr(ast.Call(append, [one.elt], []))]
                    for condition in reversed(part.ifs):
                        inner = [ast.If(condition, inner, [])]
                    loop = ast.For(part.target, part.iter, inner, [])
                    read = ast.Name(target, ast.Load())
                    if isinstance(value, list):
                        value[place] = read
                    else:
                        setattr(node, name, read)
                    return [*before, statement_of(f"{target} = []"), loop, statement]
    return None


def is_inside(one: ast.ListComp, statement: ast.stmt) -> bool:
    """Whether a comprehension stands in another one."""
    kinds = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)
    outer = [node for node in ast.walk(statement) if isinstance(node, kinds) and node is not one]
    return any(one is node for around in outer for node in ast.walk(around))


def loop_as_comprehension(before: list[ast.stmt], statement: ast.stmt, rng: random.Random) -> list[ast.stmt] | None:
    """`x = []`, then `for …: x.append(…)`."""
    match (before[-1:], statement):
        case (
            [ast.Assign([ast.Name(name)], ast.List([]))],
            ast.For(target, iterable, [ast.Expr(ast.Call(ast.Attribute(ast.Name(same), "append"), [item]))], []),
        ) if name == same:
            part = ast.comprehension(target, iterable, [], 0)
            return [*before[:-1], ast.Assign([ast.Name(name, ast.Store())], ast.ListComp(item, [part]))]
    return None


def range_as_while(before: list[ast.stmt], statement: ast.stmt, rng: random.Random) -> list[ast.stmt] | None:
    """`for i in range(n)`, where nothing leaves the loop early."""
    match statement:
        case ast.For(ast.Name(name), ast.Call(ast.Name("range"), [end]), body, []) if not any(
            isinstance(node, (ast.Continue, ast.Lambda)) for one in body for node in ast.walk(one)
        ):
            counter = f"counter{rng.randrange(10**6)}"
            first = [statement_of(f"{counter} = 0")]
            bind = [ast.Assign([ast.Name(name, ast.Store())], ast.Name(counter, ast.Load()))]
            step = [statement_of(f"{counter} += 1")]
            test = ast.Compare(ast.Name(counter, ast.Load()), [ast.Lt()], [end])
            return [*before, *first, ast.While(test, [*bind, *body, *step], [])]
    return None


def statement_of(text: str) -> ast.stmt:
    """The only statement of a text."""
    return ast.parse(text).body[0]


Change = Callable[[list[ast.stmt], ast.stmt, random.Random], list[ast.stmt] | None]
LOOPS: tuple[Change, ...] = (loop_as_comprehension, comprehension_as_loop, range_as_while)
