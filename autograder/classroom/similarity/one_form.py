"""Brings code that does the same in other words into one form: loops, temporary names, order of statements.

    xs = []                                   for x in ys:
    for x in ys: xs.append(f(x))                  xs.append(f(x))           [f(x) for x in ys]   ->   the second

The result need not run: it is only compared with other results.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Sequence

from .answers import nodes_in

MOST_INLINED = 80
"""Nodes of an expression that takes the place of its name."""
MOST_SORTED = 100
"""Statements of a block that are sorted; the time is quadratic in them."""

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
Tokens = Callable[[ast.stmt], Sequence[str]]


def in_one_form(body: list[ast.stmt], tokens_of: Tokens) -> list[ast.stmt]:
    """The statements of a function in one form; `tokens_of` tells how a statement reads without chosen names."""
    body = plain(body)
    if any(isinstance(node, COMPREHENSIONS) for statement in body for node in nodes_in(statement)):
        body = Hoisting().block(body)
    body = inlined(body)
    return in_order(body, tokens_of)


def plain(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without docstrings, annotations, prints, empty collections; assignments one by one; no counting `while`."""
    found: list[ast.stmt] = []
    for statement in body:
        for one in _simple(statement):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(one, field, None)
                if isinstance(block, list) and block:
                    setattr(one, field, plain(block))
            for part in (*getattr(one, "handlers", ()), *getattr(one, "cases", ())):
                part.body = plain(part.body)
            found.append(counting(one) if isinstance(one, ast.While) else one)
    return found


def _simple(statement: ast.stmt) -> list[ast.stmt]:
    match statement:
        case ast.Pass() | ast.Expr(ast.Constant()) | ast.AnnAssign(value=None):
            return []
        case ast.Expr(ast.Call(ast.Name("print"))) | ast.Expr(ast.Call(ast.Attribute(ast.Call(ast.Name("super"))))):
            return []
        case ast.AnnAssign(target, _, ast.expr() as value):
            return _simple(assign(target, value, statement))
        case ast.AugAssign(target, op, value):
            return _simple(assign(target, ast.BinOp(loaded(target), op, value), statement))
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            pairs = zip(targets, values, strict=True)
            return [one for target, value in pairs for one in _simple(assign(target, value, statement))]
        case ast.Assign([ast.Name()], ast.List([]) | ast.Dict([]) | ast.Tuple([])):
            return []
        case ast.Assign([ast.Name()], ast.Call(ast.Name("list" | "dict" | "set"), [], [])):
            return []
        case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(same), ast.Add(), ast.List([item]))) if name == same:
            return [ast.copy_location(appending(name, item), statement)]
    return [statement]


def assign(target: ast.expr, value: ast.expr, where: ast.stmt) -> ast.Assign:
    """A plain assignment in place of another one."""
    return located(ast.Assign([target], value), where)


def located(node: ast.Assign, where: ast.AST) -> ast.Assign:
    """A new statement at the place of an old one."""
    return ast.fix_missing_locations(ast.copy_location(node, where))


def loaded(target: ast.expr) -> ast.expr:
    """The same target, read."""
    match target:
        case ast.Name(name):
            made: ast.expr = ast.Name(name, ast.Load())
        case ast.Attribute(value, name):
            made = ast.Attribute(value, name, ast.Load())
        case ast.Subscript(value, index):
            made = ast.Subscript(value, index, ast.Load())
        case _:
            return target
    return ast.copy_location(made, target)


def appending(name: str, item: ast.expr) -> ast.Expr:
    """`name.append(item)`."""
    called = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
    made = ast.Expr(ast.Call(called, [item], []))
    return ast.fix_missing_locations(ast.copy_location(made, item))


def counting(loop: ast.While) -> ast.stmt:
    """`while i < n: …; i += 1` as `for i in range(n): …`."""
    match loop:
        case ast.While(ast.Compare(ast.Name(name), [ast.Lt() | ast.NotEq()], [end]), body) if body:
            for step in body:
                match step:
                    case ast.Assign([ast.Name(same)], ast.BinOp(ast.Name(again), ast.Add(), ast.Constant(1))) if (
                        name == same == again
                    ):
                        rest = [one for one in body if one is not step]
                        numbers = ast.Call(ast.Name("range", ast.Load()), [end], [])
                        made = ast.For(ast.Name(name, ast.Store()), numbers, rest, loop.orelse)
                        return ast.fix_missing_locations(ast.copy_location(made, loop))
    return loop


class Hoisting(ast.NodeTransformer):
    """Writes comprehensions as loops before the statement in which they stand."""

    def __init__(self) -> None:
        """Begins without loops."""
        self.loops: list[ast.stmt] = []
        self.count = 0

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block, each with its loops before it."""
        found: list[ast.stmt] = []
        for statement in body:
            before, self.loops = self.loops, []
            made = self.visit(statement)
            found += [*self.loops, made]
            self.loops = before
        return found

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Goes through the expressions of a statement, and then through its blocks."""
        blocks = {}
        if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list):
                    blocks[field] = block
                    setattr(node, field, [])
        super().generic_visit(node)
        for field, block in blocks.items():
            setattr(node, field, self.block(block))
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:  # noqa: N802  ast's names
        """A list."""
        return self._loop(node, node.elt)

    visit_SetComp = visit_GeneratorExp = visit_ListComp  # type: ignore[assignment]  # noqa: N815  of the same shape

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:  # noqa: N802
        """A dictionary, as pairs."""
        return self._loop(node, ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node))

    def _loop(self, node: ast.ListComp | ast.DictComp, item: ast.expr) -> ast.expr:
        self.count += 1
        name = f"<{self.count}>"
        made: ast.stmt = appending(name, self.visit(item))
        for part in reversed(node.generators):
            for condition in reversed(part.ifs):
                made = ast.copy_location(ast.If(self.visit(condition), [made], []), node)
            made = ast.copy_location(ast.For(part.target, self.visit(part.iter), [made], []), node)
        self.loops.append(made)
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def inlined(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without names that are bound once and read once."""
    stored: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for node in (node for statement in body for node in nodes_in(statement)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else stored)[node.id] += 1
    once = {name for name, times in read.items() if times == 1 and stored[name] == 1}
    return Inlining(once).block(body) if once else body


class Inlining(ast.NodeTransformer):
    """Puts expressions in the place of names that stand for them once."""

    def __init__(self, names: set[str]) -> None:
        """Takes the names."""
        self.names = names
        self.values: dict[str, tuple[ast.expr, int]] = {}
        self.used = 0

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block without those that only give a name."""
        found: list[ast.stmt] = []
        for statement in body:
            self.used = 0
            made = self.visit(statement)
            match made:
                case ast.Assign([ast.Name(name)], value) if name in self.names:
                    size = self.used + sum(1 for _ in nodes_in(value))
                    if size <= MOST_INLINED:
                        self.values[name] = (value, size)
                        continue
            found.append(made)
        return found

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Blocks lose statements; expressions are visited as they are."""
        blocks = {}
        for field in ("body", "orelse", "finalbody") if isinstance(node, (ast.stmt, ast.ExceptHandler)) else ():
            block = getattr(node, field, None)
            if isinstance(block, list):
                blocks[field] = self.block(block)
                setattr(node, field, [])  # visited once only: twice at each depth would double the time
        super().generic_visit(node)
        for field, block in blocks.items():
            setattr(node, field, block)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802  ast's name
        """The value of a name, once."""
        if isinstance(node.ctx, ast.Load) and node.id in self.values:
            value, size = self.values.pop(node.id)
            self.used += size
            return value
        return node


def in_order(body: list[ast.stmt], tokens_of: Tokens) -> list[ast.stmt]:
    """The statements of a block, and of blocks in it, in an order that does not depend on how they were written.

    What does not depend on what stands before it may move; of those that may come next, the first by its tokens does.
    """
    for statement in body:
        for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(part, field, None)
                if isinstance(block, list) and block:
                    setattr(part, field, in_order(block, tokens_of))
    if not 1 < len(body) <= MOST_SORTED:
        return body
    keys = [tuple(tokens_of(statement)) for statement in body]
    effects = [effects_of(statement) for statement in body]
    before = [{i for i in range(j) if must_precede(effects[i], effects[j])} for j in range(len(body))]
    left, done, order = set(range(len(body))), set[int](), list[int]()
    while left:
        chosen = min((i for i in left if before[i] <= done), key=lambda i: (keys[i], i))
        left.remove(chosen)
        done.add(chosen)
        order.append(chosen)
    return [body[i] for i in order]


Effects = tuple[set[str], set[str], bool]
"""Names read, names changed, and whether anything else may happen."""


def effects_of(statement: ast.stmt) -> Effects:
    """What a statement reads and changes, as far as its text tells."""
    reads: set[str] = set()
    changes: set[str] = set()
    acts = not isinstance(statement, (ast.Assign, ast.For, ast.If))
    for node in nodes_in(statement):
        match node:
            case ast.Attribute(ast.Name(owner), name, ctx):
                (reads if isinstance(ctx, ast.Load) else changes).add(f"{owner}.{name}")
            case ast.Name(name, ctx):
                (reads if isinstance(ctx, ast.Load) else changes).add(name)
            case ast.Subscript(ast.Name(name), _, ast.Store()):
                changes.add(name)
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"))):
                changes.add(name)
            case ast.Expr() | ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                acts = True
    return reads, changes, acts


def must_precede(first: Effects, second: Effects) -> bool:
    """Whether two statements have to stay in order."""
    if first[2] or second[2]:
        return True
    return bool(first[1] & (second[0] | second[1]) or first[0] & second[1])
