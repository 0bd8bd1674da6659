"""Code as fingerprints: what does the same in other words leaves the same ones.

Loops, comprehensions and the order of statements are brought into one form, which need not run:

    xs = []                                   for x in ys:
    for x in ys: xs.append(f(x))                  xs.append(f(x))           [f(x) for x in ys]   ->   the second

Then code is read as tokens in prefix notation, without the names that its author chose: `a * (b + c)` is `* v + v v`.
Of the tokens, winnowing keeps some sequences (Schleimer, Wilkerson and Aiken 2003, "Winnowing: Local Algorithms for
Document Fingerprinting", section 3): of each WINDOW neighbouring sequences of LENGTH tokens, the one with the least
hash. Whatever two texts share of at least LENGTH + WINDOW - 1 tokens leaves a fingerprint in both.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

LENGTH = 8
WINDOW = 4
OWN = "\0"
"""Begins the token of a name that the author chose; what follows only tells it from the author's other names."""
SKIPPED = {"annotation", "returns", "type_comment", "ctx", "kind", "type_params", "decorator_list", "args", "keywords"}
MOST_SORTED = 100
"""Statements of a block that are sorted; the time is quadratic in them."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
Tokens = Callable[[ast.stmt], Sequence[str]]


@dataclass(frozen=True)
class ModuleNames:
    """Names in a module that are not a function's own."""

    imported: dict[str, str]  # local name -> the name that was imported; modules keep the last part of theirs
    own: frozenset[str]  # definitions, methods and attributes that the student has named


def nodes_in(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, in no order; twice as fast as `ast.walk`."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        for field in one._fields:
            value = getattr(one, field, None)
            if isinstance(value, list):
                waiting += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST):
                waiting.append(value)


def blocks_in(statement: ast.stmt) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    """The blocks of a statement, each with its owner and the name that it has there."""
    for part in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        for name in ("body", "orelse", "finalbody"):
            if block := getattr(part, name, None):
                yield part, name, block


def in_one_form(body: list[ast.stmt], tokens_of: Tokens) -> list[ast.stmt]:
    """The statements of a function in one form; `tokens_of` tells how a statement reads without chosen names."""
    body = plain(body)
    if any(isinstance(node, COMPREHENSIONS) for statement in body for node in nodes_in(statement)):
        body = Hoisting().block(body)
    return in_order(body, tokens_of)


def plain(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without docstrings, annotations, prints, empty collections; assignments one by one."""
    found: list[ast.stmt] = []
    for statement in body:
        for one in _simple(statement):
            for part, name, block in blocks_in(one):
                setattr(part, name, plain(block))
            found.append(one)
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
            return _simple(assign(target, ast.BinOp(target, op, value), statement))
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
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([target], value), where))


def appending(name: str, item: ast.expr) -> ast.Expr:
    """`name.append(item)`."""
    called = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
    made = ast.Expr(ast.Call(called, [item], []))
    return ast.fix_missing_locations(ast.copy_location(made, item))


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


def in_order(body: list[ast.stmt], tokens_of: Tokens) -> list[ast.stmt]:
    """The statements of a block, and of blocks in it, in an order that does not depend on how they were written.

    What does not depend on what stands before it may move; of those that may come next, the first by its tokens does.
    """
    for statement in body:
        for part, name, block in blocks_in(statement):
            setattr(part, name, in_order(block, tokens_of))
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


class Reader:
    """Reads statements of one function."""

    def __init__(self, names: ModuleNames, own: frozenset[str]) -> None:
        """Takes the names of the module, and those that the function binds."""
        self.names, self.own = names, own
        self.tokens: list[str] = []
        self.lines: list[int] = []
        self.line = 0

    def read(self, body: Sequence[ast.stmt]) -> tuple[list[str], list[int]]:
        """The tokens of some statements, and their lines."""
        self.tokens, self.lines = [], []
        for statement in body:
            self.visit(statement)
        return self.tokens, self.lines

    def nameless(self, statement: ast.stmt) -> list[str]:
        """The tokens of a statement without any name that the author chose."""
        return [OWN if token.startswith(OWN) else token for token in self.read([statement])[0]]

    def put(self, token: str) -> None:
        """Adds a token at the present line."""
        self.tokens.append(token)
        self.lines.append(self.line)

    def visit(self, node: ast.AST) -> None:
        """Reads a node; its line counts until that of another one."""
        before, self.line = self.line, getattr(node, "lineno", self.line)
        match node:
            case ast.Assign():  # the value first: what it is called matters less
                self.put("=")
                for part in (node.value, *node.targets):
                    self.visit(part)
            case ast.Name(name):
                is_own = name in self.own or name in self.names.own or name.startswith("<")
                self.put(OWN + name if is_own else self.names.imported.get(name, name))
            case ast.Attribute():
                self.visit_attribute(node)
            case ast.Call():  # what is called, then the arguments; those with keywords by their keywords
                self.visit(node.func)
                self.put(f"call {len(node.args) + len(node.keywords)}")
                for argument in node.args:
                    self.visit(argument)
                for keyword in sorted(node.keywords, key=lambda one: one.arg or ""):
                    self.put(f"{keyword.arg}=")
                    self.visit(keyword.value)
            case ast.BinOp(left, operator, right):
                self.put(type(operator).__name__)
                self.visit(left)
                self.visit(right)
            case ast.Constant(bool() | None | int() | float() as value):
                self.put(repr(value))
            case ast.Constant(value):
                self.put(type(value).__name__)
            case ast.JoinedStr():  # a text, whatever stands in it
                self.put("str")
            case _:
                if not isinstance(node, (ast.Expr, ast.expr_context, ast.keyword, ast.Index, ast.arguments)):
                    self.put(type(node).__name__)
                self.visit_parts(node)
        self.line = before

    def visit_parts(self, node: ast.AST) -> None:
        """The parts of a node; what follows a block is told from what is in it."""
        for field, value in ast.iter_fields(node):
            if field in SKIPPED:
                continue
            if isinstance(value, list):
                for one in value:
                    if isinstance(one, ast.AST):
                        self.visit(one)
                if value and isinstance(value[0], ast.stmt):
                    self.put("end")
            elif isinstance(value, ast.AST):
                self.visit(value)

    def visit_attribute(self, node: ast.Attribute) -> None:
        """An attribute of an object, or something of a module such as `torch.nn.functional.softmax`."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self.names.imported and root.id not in self.own:
            self.put(node.attr)
        elif isinstance(node.value, ast.Name) and node.value.id == "self":
            self.put(f"{OWN}self.{node.attr}")
        else:
            self.put(f"{OWN if node.attr in self.names.own else ''}.{node.attr}")
            self.visit(node.value)


def fingerprints(tokens: Sequence[str], length: int = LENGTH, window: int = WINDOW) -> Iterator[tuple[int, int]]:
    """Positions and hashes; a text shorter than `length` has one, of all of it."""
    hashes = [hash_of(tokens[start : start + length]) for start in range(max(1, len(tokens) - length + 1))]
    last = -1
    for start in range(max(1, len(hashes) - window + 1)):
        span = range(start, min(start + window, len(hashes)))
        chosen = min(span, key=lambda place: (hashes[place], -place))
        if chosen != last:
            yield chosen, hashes[chosen]
            last = chosen


def hash_of(tokens: Sequence[str]) -> int:
    """A number of 63 bits, the same in every process; of chosen names only which ones are the same counts."""
    order: dict[str, str] = {}
    blank = [order.setdefault(one, f"{OWN}{len(order)}") if one.startswith(OWN) else one for one in tokens]
    digest = hashlib.blake2b("\x1f".join(blank).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
