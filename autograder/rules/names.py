"""What the names in a submission stand for, as far as its imports and assignments tell; nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from foundation.sources import Sources

from ..source.syntax_trees import TooNestedError, parse, resolve
from .forbidden import ForbiddenNames

MAX_STEPS = 150_000
"""For one component; the reference needs 5,000 for all together."""
MAX_MEANINGS = 400
"""Of one expression."""
MAX_DEPTH = 60
MAX_PATH = 300
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BLOCKS = (ast.Try, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.Match)
IMPORTS = {"importlib.import_module", "builtins.__import__"}
NOT_RUN = ("annotation", "returns", "type_comment")


class TooTangledError(Exception):
    """The code is too large to be followed to the end."""


@dataclass(frozen=True)
class Library:
    """Something that is imported, or an attribute of it: `path` is "torch.nn.LayerNorm", "builtins.getattr"."""

    path: str


@dataclass(frozen=True)
class OwnModule:
    """A module of the submission."""

    name: str


@dataclass(eq=False)
class Binding:
    """One place at the top level of a module where a name gets a value.

    Attributes:
        module: that contains it.
        name: that is bound; "*" for `from … import *`.
        node: the statement.
        value: an expression, an alias of an import, or None where it is not known.
        position: in the order of execution.
        is_certain: whether it happens whenever the module is imported.
        changes: statements elsewhere that change the bound object, such as `LayerNorm.forward = …`, with their scopes.
    """

    module: str
    name: str
    node: ast.stmt
    value: ast.expr | ast.alias | None
    position: int
    is_certain: bool
    changes: list[tuple[ast.stmt, Scope]] = field(default_factory=list)


Value = Library | OwnModule | Binding
Values = frozenset[Value]
NOTHING: Values = frozenset()


class ModuleNames:
    """The names at the top level of one module.

    Attributes:
        lines: of its text.
        tree: of its text; None where that does not compile.
        is_tangled: it cannot be read here, though a worker may be able to run it.
        assignments: that may change an object instead of binding a name.
    """

    def __init__(self, name: str, text: str) -> None:
        """Reads the text; a text that does not compile has no names."""
        self._name = name
        self.lines = text.split("\n")
        self.assignments: list[ast.Assign] = []
        self._bindings: dict[str, list[Binding]] = {}
        tree = parse(text)
        self.is_tangled = isinstance(tree, TooNestedError)
        self.tree = tree if isinstance(tree, ast.Module) else None
        waiting = [(node, True) for node in reversed(self.tree.body if self.tree else [])]
        position = 0
        while waiting:  # not by recursion: `elif` nests deeply
            node, is_certain = waiting.pop()
            position += 1
            for bound, value in bound_in(node):
                binding = Binding(name, bound, node, value, position, is_certain and not isinstance(node, BLOCKS))
                self._bindings.setdefault(bound, []).append(binding)
            if isinstance(node, ast.Assign):
                self.assignments.append(node)
            waiting += reversed([(part, is_certain and may) for part, may in statements_in(node)])

    def visible(self, name: str, position: int | None = None) -> list[Binding]:
        """The bindings that a name may stand for, at a point of the import or after it (None)."""
        candidates = self._bindings.get(name, []) + self._bindings.get("*", [])
        found = []
        for binding in sorted(candidates, key=lambda binding: -binding.position):
            if position is None or binding.position < position:
                found.append(binding)
                if binding.is_certain and binding.name != "*":
                    break
        return found


@dataclass(eq=False)
class Scope:
    """The scope of a piece of code.

    Attributes:
        module: that contains it.
        parent: the enclosing scope; None = this is the module's top level.
        is_class: a class body, whose names its methods do not see.
        position: the code runs at this point of the module's import; None = after it.
        names: local names with their values, and the import statement of an alias.
    """

    module: str
    parent: Scope | None = None
    is_class: bool = False
    position: int | None = None
    names: dict[str, list[tuple[ast.expr | ast.alias | None, ast.AST]]] = field(default_factory=dict)

    def find(self, name: str) -> tuple[list[tuple[ast.expr | ast.alias | None, ast.AST]], Scope] | None:
        """A name's values and the nearest scope that sets it; None where that is the module's top level."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.is_class):
                return scope.names[name], scope
            scope = scope.parent
        return None

    def inner(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef) -> Scope:
        """The scope of a function, a lambda or a class in this scope."""
        is_class = isinstance(node, ast.ClassDef)
        scope = Scope(self.module, self, is_class, self.position if is_class else None)
        if isinstance(node, FUNCTIONS):
            named = (part for part in ast.walk(node.args) if isinstance(part, ast.arg))
            scope.names |= {argument.arg: [(None, argument)] for argument in named}
        waiting: list[ast.AST] = listed(node.body)
        while waiting:
            part = waiting.pop()
            for name, value in bound_in(part):
                scope.names.setdefault(name, []).append((value, part))
            if not isinstance(part, (*DEFINITIONS, ast.Lambda)):
                waiting += ast.iter_child_nodes(part)
        return scope

    def after_import(self) -> Scope:
        """The same scope at a later time."""
        return self if self.position is None else replace(self, position=None)


class Evaluator:
    """Finds the possible values of expressions in all modules of a submission; reads each module when first needed."""

    def __init__(self, sources: Sources, forbidden: ForbiddenNames) -> None:
        self.sources, self.forbidden = sources, forbidden
        self._n_steps = 0
        self._modules: dict[str, ModuleNames] = {}
        self._known: dict[tuple[int, object], Values] = {}
        self._kept: list[object] = []  # kept alive, so that no id is used twice

    def begin(self) -> None:
        """Counts steps from here."""
        self._n_steps = 0

    def step(self, n_steps: int = 1) -> None:
        """Counts steps. Raises: TooTangledError when there are too many."""
        self._n_steps += n_steps
        if self._n_steps > MAX_STEPS:
            raise TooTangledError

    def module(self, name: str) -> ModuleNames:
        """The names of a module; a missing module has none."""
        if name not in self._modules:
            self._modules[name] = ModuleNames(name, self.sources.get(name, ("", ""))[1])
        return self._modules[name]

    def look_up(self, module: str, name: str, position: int | None = None, depth: int = 0) -> Values:
        """The possible values of a name at the top level of a module, at a point of its import or after it."""
        return joined(self.values_of(binding, name, depth) for binding in self.visible(module, name, position))

    def visible(self, module: str, name: str, position: int | None = None) -> list[Binding]:
        """The bindings that a name at the top level of a module may stand for; see `ModuleNames.visible`."""
        found = self.module(module).visible(name, position)
        self.step(1 + len(found))
        return found

    def values_of(self, binding: Binding, name: str, depth: int = 0) -> Values:
        """The possible values of a binding; of a star import, for one of the names that it brings."""
        value, scope = binding.value, Scope(binding.module, position=binding.position)
        if isinstance(value, ast.alias):
            if binding.name == "*":
                return self._from_star(binding, name, depth)
            return self._memoised(binding, None, lambda: self._imported(value, binding.node, scope.module, depth))
        return frozenset([binding]) | (NOTHING if value is None else self.evaluate(value, scope, depth + 1))

    def evaluate(self, node: ast.expr, scope: Scope, depth: int = 0) -> Values:
        """The possible values of an expression; nothing where they are unknown."""
        if depth > MAX_DEPTH:
            return NOTHING
        place: object = id(scope) if scope.parent else (scope.module, scope.position)
        self._kept.append(scope)
        return self._memoised(node, place, lambda: self._evaluate(node, scope, depth + 1))

    def _memoised(self, node: object, place: object, compute: Callable[[], Values]) -> Values:
        key = (id(node), place)
        if key not in self._known:
            self._known[key] = NOTHING  # for a recursive visit
            self._kept.append(node)
            self._known[key] = found = compute()
            if len(found) > MAX_MEANINGS:
                raise TooTangledError
        self.step(1 + len(self._known[key]))  # the caller visits all of them
        return self._known[key]

    def _evaluate(self, node: ast.expr, scope: Scope, depth: int) -> Values:
        def of(part: ast.expr) -> Values:
            return self.evaluate(part, scope, depth)

        match node:
            case ast.Name(name):
                if local := scope.find(name):
                    return joined(self._local(value, place, local[1], depth) for value, place in local[0])
                return self.look_up(scope.module, name, scope.position, depth) or frozenset(
                    [Library(f"builtins.{name}")]
                )
            case ast.Attribute(owner, name):
                return joined(self.attribute(value, name, depth) for value in of(owner))
            case ast.Call(function, [owner, ast.Constant(str() as name), *_]) if Library("builtins.getattr") in of(
                function
            ):
                return joined(self.attribute(value, name, depth) for value in of(owner))
            case ast.Call(function, [ast.Constant(str() as name), *_]) if any(
                Library(path) in of(function) for path in IMPORTS
            ):
                return frozenset([Library(name), Library(name.partition(".")[0])])
            case ast.IfExp(_, one, other):
                return of(one) | of(other)
            case ast.BoolOp(_, parts):
                return joined(map(of, parts))
            case ast.NamedExpr(_, value) | ast.Starred(value):
                return of(value)
        return NOTHING

    def _local(self, value: ast.expr | ast.alias | None, place: ast.AST, scope: Scope, depth: int) -> Values:
        if isinstance(value, ast.alias):
            return self._imported(value, place, scope.module, depth)
        return NOTHING if value is None else self.evaluate(value, scope, depth)

    def _imported(self, alias: ast.alias, statement: ast.AST, module: str, depth: int) -> Values:
        """The value of an alias in `import a.b`, `import a.b as c`, `from a import b` or `from .a import b`."""
        if depth > MAX_DEPTH:
            return NOTHING
        if isinstance(statement, ast.Import):
            return frozenset([Library(alias.name if alias.asname else alias.name.partition(".")[0])])
        if not isinstance(statement, ast.ImportFrom):
            return NOTHING
        if statement.level == 0:
            return frozenset([Library(f"{statement.module}.{alias.name}")])
        origin = self._origin(statement, module)
        if origin is None:
            return NOTHING
        inner = f"{origin}.{alias.name}" if origin else alias.name
        if not origin or inner in self.sources:
            return frozenset([OwnModule(inner)])
        return self.look_up(origin, alias.name, None, depth + 1)

    def _origin(self, statement: ast.ImportFrom, importer: str) -> str | None:
        """The module of the submission that a relative import names; "" for the submission itself."""
        path, _ = self.sources.get(importer, ("", ""))
        return resolve(importer, path.endswith("/__init__.py"), statement.level, statement.module)

    def _from_star(self, binding: Binding, name: str, depth: int) -> Values:
        """What a star import brings under a name; each module that star imports lead to is visited once."""
        found: list[Values] = []
        visited: set[str] = set()
        waiting = [binding] if depth <= MAX_DEPTH and name != "*" else []
        while waiting:
            star = waiting.pop()
            self.step()
            if not isinstance(star.node, ast.ImportFrom):
                continue
            if star.node.level == 0:
                if self.forbidden.star_brings(star.node.module or "", name):
                    found.append(frozenset([Library(f"{star.node.module}.{name}")]))
                continue
            origin = self._origin(star.node, star.module)
            if origin and origin not in visited and not name.startswith("_"):
                visited.add(origin)
                inner = self.visible(origin, name)
                waiting += [one for one in inner if one.name == "*"]
                found += [self.values_of(one, name, depth + 1) for one in inner if one.name != "*"]
        return joined(found)

    def attribute(self, value: Value, name: str, depth: int = 0) -> Values:
        """The possible values of `value.name`."""
        if isinstance(value, Library) and len(value.path) + len(name) < MAX_PATH:
            return frozenset([Library(f"{value.path}.{name}")])
        return self.look_up(value.name, name, None, depth) if isinstance(value, OwnModule) else NOTHING


def joined(several: Iterator[Values] | list[Values] | map[Values]) -> Values:
    """The union."""
    return NOTHING.union(*several)


def bound_in(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.alias | None]]:
    """The names that one statement or expression binds, without what is inside it, each with its value if known."""
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            yield name, None
        case ast.Import(names):
            yield from ((alias.asname or alias.name.partition(".")[0], alias) for alias in names)
        case ast.ImportFrom(names=names):
            yield from ((alias.asname or alias.name, alias) for alias in names)
        case ast.Assign(targets, value):
            for target in targets:
                yield from targets_of(target, value)
        case (
            ast.AnnAssign(target, _, ast.expr() as value)
            | ast.AugAssign(target, _, value)
            | ast.NamedExpr(target, value)
        ):
            yield from targets_of(target, value)
        case ast.For(target, iterable) | ast.AsyncFor(target, iterable) | ast.comprehension(target, iterable):
            elements = iterable.elts if isinstance(iterable, (ast.Tuple, ast.List)) else [None]
            for element in elements:
                yield from targets_of(target, element)
        case ast.withitem(_, ast.expr() as target):
            yield from targets_of(target, None)
        case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name) | ast.MatchStar(str() as name):
            yield name, None


def targets_of(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    """The names in an assignment's target, with their part of the value."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Starred):
        yield from targets_of(target.value, None)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        matches = len(parts) == len(target.elts) and not any(isinstance(part, ast.Starred) for part in parts)
        for index, inner in enumerate(target.elts):
            yield from targets_of(inner, parts[index] if matches else value)


def statements_in(node: ast.stmt) -> Iterator[tuple[ast.stmt, bool]]:
    """The statements in the blocks of a statement that may run, and whether they run for certain if it does."""
    if isinstance(node, (ast.If, ast.While)):
        runs, runs_else = branches(node.test)
        yield from ((part, False) for part in node.body if runs)
        yield from ((part, not runs) for part in node.orelse if runs_else)
    elif isinstance(node, BLOCKS):
        for part in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            for block in ("body", "orelse", "finalbody"):
                yield from ((one, isinstance(node, (ast.With, ast.AsyncWith))) for one in getattr(part, block, ()))


def branches(test: ast.expr) -> tuple[bool, bool]:
    """Whether the two blocks of an `if` may run when the module is imported for grading."""
    match test:
        case ast.Constant(value):
            return bool(value), not value
        case ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False, True
        case ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]):
            return False, True
    return True, True


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are run."""
    for name, part in ast.iter_fields(node):
        if name not in NOT_RUN:
            yield from (one for one in (part if isinstance(part, list) else [part]) if isinstance(one, ast.AST))


def listed(body: list[ast.stmt] | ast.expr) -> list[ast.AST]:
    """A function's statements; a lambda's expression as one."""
    return [*body] if isinstance(body, list) else [body]
