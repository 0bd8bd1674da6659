"""Finds the possible values of expressions: a small interpreter that runs nothing and gives up early."""

import ast
import time
from collections.abc import Callable, Iterable

from foundation.sources import Sources

from ..intake.python_source import parse, resolve
from .folding import fold, texts
from .forbidden import ForbiddenNames
from .module_names import ModuleNames
from .scopes import Scope, Source
from .values import NOTHING, Binding, Getter, Items, Library, Namespace, OwnModule, Text, Value, Values, joined

MAX_STEPS = 150_000  # for one component; the reference needs 7,000 for all together
MAX_STEPS_IN_ALL = 3 * MAX_STEPS
MAX_SECONDS = 10.0
"""CPU time for all components; a safety net, since steps bound the time already."""
STEPS_PER_LOOK = 4096  # at the clock
TEXT_PER_STEP = 100  # characters
BINDINGS_PER_STEP = 10
MAX_MEANINGS = 400  # of one expression
MAX_DEPTH = 60
MAX_PATH = 300
FOLDED = (ast.Constant, ast.BinOp, ast.JoinedStr)
COLLECTIONS = (ast.List, ast.Tuple, ast.Set)
LOOK_UP = "__getattribute__"
GET_ATTRIBUTE = {
    "builtins.getattr",
    "inspect.getattr_static",
    f"builtins.object.{LOOK_UP}",
    f"builtins.type.{LOOK_UP}",
    "types.ModuleType." + LOOK_UP,
}
IMPORT = {"importlib.import_module", "builtins.__import__", "importlib.__import__", "sys.modules.get"}
LOCATE = {"pkgutil.resolve_name", "pydoc.locate"}
MAKE_GETTER = {"operator.attrgetter", "operator.itemgetter"}
RUN_TEXT = {"builtins.exec", "builtins.eval", "builtins.compile", "torch.jit.CompilationUnit"}


class TooTangledError(Exception):
    """The code is too large to be followed to the end."""


class Evaluator:
    """Evaluates expressions in all modules of a submission; reads each module when first needed."""

    def __init__(self, sources: Sources, forbidden: ForbiddenNames) -> None:
        self.sources, self.forbidden = sources, forbidden
        self.n_steps = self.n_steps_in_all = 0
        self._began = time.process_time()
        self._modules: dict[str, ModuleNames] = {}
        self._known: dict[tuple[int, object], Values] = {}
        self._trees: dict[tuple[str, int], tuple[ast.Module, Scope]] = {}
        self._kept: list[object] = []  # kept alive, so that no id is used twice

    def step(self, n_steps: int = 1) -> None:
        """Counts steps.

        Raises:
            TooTangledError: when there are too many.
        """
        self.n_steps += n_steps
        self.n_steps_in_all += n_steps
        if self.n_steps > MAX_STEPS or self.n_steps_in_all > MAX_STEPS_IN_ALL:
            raise TooTangledError
        is_time_to_look = self.n_steps_in_all % STEPS_PER_LOOK < n_steps
        if is_time_to_look and time.process_time() - self._began > MAX_SECONDS:
            raise TooTangledError

    def module(self, name: str) -> ModuleNames:
        """The names of a module; a missing module has none."""
        if name not in self._modules:
            self._modules[name] = ModuleNames(name, self.sources.get(name, ("", ""))[1])
        return self._modules[name]

    def look_up(self, module: str, name: str, position: int | None = None, depth: int = 0) -> Values:
        """The possible values of a name at the top level of a module, at a point of its import or after it."""
        return joined(*(self.values_of(binding, name, depth) for binding in self.visible(module, name, position)))

    def visible(self, module: str, name: str, position: int | None = None) -> list[Binding]:
        """The bindings that a name at the top level of a module may stand for; see `ModuleNames.visible`."""
        names = self.module(module)
        self.step(1 + names.count(name) // BINDINGS_PER_STEP)
        return names.visible(name, position)

    def values_of(self, binding: Binding, name: str, depth: int = 0) -> Values:
        """The possible values of a binding; of a star import, for one of the names that it brings."""
        scope = Scope(binding.module, position=binding.position)
        if isinstance(alias := binding.value, ast.alias):
            if binding.name == "*":
                return self._from_star(binding, name, depth)
            return self._memoised(binding, binding, lambda: self._imported(alias, binding.node, scope, depth))
        known = NOTHING if alias is None else self.evaluate(alias, scope, depth + 1)
        return known | {binding}

    def evaluate(self, node: ast.expr, scope: Scope, depth: int = 0) -> Values:
        """The possible values of an expression; nothing where they are unknown."""
        if depth > MAX_DEPTH:
            return NOTHING
        return self._memoised(node, scope, lambda: self._evaluate(node, scope, depth + 1))

    def _memoised(self, node: object, scope: object, compute: Callable[[], Values]) -> Values:
        key = (id(node), id(scope) if not isinstance(scope, Scope) or scope.parent else (scope.module, scope.position))
        if key not in self._known:
            self._known[key] = NOTHING  # for a recursive visit
            self._kept += [node, scope]
            self._known[key] = found = compute()
            if len(found) > MAX_MEANINGS:
                raise TooTangledError
            self.step(sum(len(value.text) for value in found if isinstance(value, Text)) // TEXT_PER_STEP)
        self.step(1 + len(self._known[key]))  # the caller visits all of them
        return self._known[key]

    def _evaluate(self, node: ast.expr, scope: Scope, depth: int) -> Values:
        def of(part: ast.expr) -> Values:
            return self.evaluate(part, scope, depth)

        if isinstance(node, ast.Name):
            return self._name(node.id, scope, depth)
        if isinstance(node, ast.Attribute):
            return joined(*(self.attribute(value, node.attr, depth) for value in of(node.value)))
        if isinstance(node, ast.Call):
            return self._call(node, scope, depth) | fold(node, of)
        if isinstance(node, ast.Subscript):
            keys = texts(of(node.slice))
            return joined(fold(node, of), *(self._item(value, keys, depth) for value in of(node.value)))
        if isinstance(node, FOLDED):
            return fold(node, of)
        if isinstance(node, COLLECTIONS):
            return frozenset([Items(joined(*map(of, node.elts)))])
        if isinstance(node, ast.Dict):
            return frozenset([Items(joined(*map(of, node.values)))])
        if isinstance(node, ast.IfExp):
            return joined(of(node.body), of(node.orelse))
        if isinstance(node, ast.BoolOp):
            return joined(*map(of, node.values))
        if isinstance(node, (ast.NamedExpr, ast.Starred)):
            return of(node.value)
        return NOTHING

    def _name(self, name: str, scope: Scope, depth: int) -> Values:
        local = scope.find(name)
        if local is not None:
            return joined(*(self._local(*source, where, depth) for source, where in local))
        found = self.look_up(scope.module, name, scope.position, depth)
        if found == NOTHING:
            return found | {Library(f"builtins.{name}")}
        return found

    def _local(self, source: Source, statement: ast.stmt | None, scope: Scope, depth: int) -> Values:
        if isinstance(source, ast.alias):
            return self._imported(source, statement, scope, depth)
        return NOTHING if source is None else self.evaluate(source, scope, depth)

    def _imported(self, alias: ast.alias, statement: ast.stmt | None, scope: Scope, depth: int) -> Values:
        """The value of an alias in `import a.b`, `import a.b as c`, `from a import b` or `from .a import b`."""
        if depth > MAX_DEPTH:
            return NOTHING
        if isinstance(statement, ast.Import):
            return frozenset([Library(alias.name if alias.asname else alias.name.partition(".")[0])])
        if not isinstance(statement, ast.ImportFrom):
            return NOTHING
        if statement.level == 0:
            return frozenset([Library(f"{statement.module}.{alias.name}")])
        origin = self._origin(statement, scope.module)
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
        if depth > MAX_DEPTH or name == "*":
            return NOTHING
        found: list[Values] = []
        visited: set[str] = set()
        waiting = [binding]
        while waiting:
            star = waiting.pop()
            statement = star.node
            self.step()
            if not isinstance(statement, ast.ImportFrom):
                continue
            if statement.level == 0:
                if self.forbidden.star_brings(statement.module or "", name):
                    found.append(frozenset([Library(f"{statement.module}.{name}")]))
                continue
            origin = self._origin(statement, star.module)
            if not origin or origin in visited or name.startswith("_"):
                continue
            visited.add(origin)
            for inner in self.visible(origin, name):
                if inner.name == "*":
                    waiting.append(inner)
                else:
                    found.append(self.values_of(inner, name, depth + 1))
        return joined(*found)

    def attribute(self, value: Value, name: str, depth: int = 0) -> Values:
        """The possible values of `value.name`."""
        if isinstance(value, Library) and len(value.path) + len(name) < MAX_PATH:
            return frozenset([Namespace(value.path) if name == "__dict__" else Library(f"{value.path}.{name}")])
        if isinstance(value, Namespace) and name in ("get", "pop", "setdefault", "__getitem__"):
            return frozenset([Library(f"{value.path}.{LOOK_UP}")])
        if isinstance(value, OwnModule):
            if name == "__dict__":
                return frozenset([value])
            return self.look_up(value.name, name, None, depth)
        return NOTHING

    def _item(self, value: Value, keys: Iterable[str], depth: int) -> Values:
        """The possible values of `value[key]`."""
        if isinstance(value, Items):
            return value.values
        if value == Library("sys.modules"):
            return joined(*map(self._module_called, keys))
        if isinstance(value, Namespace):
            return frozenset(Library(f"{value.path}.{key}") for key in keys)
        if isinstance(value, OwnModule):
            return joined(*(self.look_up(value.name, key, None, depth) for key in keys))
        return NOTHING

    def _module_called(self, name: str) -> Values:
        """The module that an import by name returns."""
        return frozenset([OwnModule(name.lstrip(".").partition(".")[0]) if name.startswith(".") else Library(name)])

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> Values:
        def argument(index: int) -> Values:
            return self.evaluate(node.args[index], scope, depth) if index < len(node.args) else NOTHING

        found: list[Values] = []
        for function in self.evaluate(node.func, scope, depth):
            if isinstance(function, Getter):
                found += [self._get(value, function.name, depth) for value in argument(0)]
            if not isinstance(function, Library):
                continue
            path = function.path
            if path in GET_ATTRIBUTE:
                found += [self._get(value, name, depth) for value in argument(0) for name in texts(argument(1))]
            elif path.endswith("." + LOOK_UP):
                owner = path.removesuffix("." + LOOK_UP)
                found += [frozenset([Library(f"{owner}.{name}")]) for name in texts(argument(0))]
            elif path == "builtins.vars" and node.args:
                found += [self.attribute(value, "__dict__") for value in argument(0)]
            elif path in ("builtins.globals", "builtins.locals", "builtins.vars"):
                found.append(frozenset([OwnModule(scope.module)]))
            elif path in IMPORT:
                for name in texts(argument(0)):
                    found += [self._module_called(name), self._module_called(name.partition(".")[0] or name)]
            elif path in LOCATE:
                found += [self._module_called(name.replace(":", ".")) for name in texts(argument(0))]
            elif path in MAKE_GETTER:
                found.append(frozenset(Getter(name) for name in texts(argument(0))))
            elif path == "builtins.compile":
                found.append(frozenset(value for value in argument(0) if isinstance(value, Text)))
            elif path == "builtins.eval":
                found += [self.evaluate(code, inner, depth) for code, inner in self._expressions(argument(0), scope)]
        if isinstance(node.func, ast.Attribute):
            found += self._collection_method(node.func, scope, depth)
        return joined(*found)

    def _get(self, value: Value, names: str, depth: int) -> Values:
        """An attribute of an attribute …, or an item of a namespace."""
        if isinstance(value, Namespace):
            return self._item(value, [names], depth)
        found: Values = frozenset([value])
        for name in names.split(".")[:MAX_DEPTH]:
            found = joined(*(self.attribute(one, name, depth) for one in found))
        return found

    def _collection_method(self, function: ast.Attribute, scope: Scope, depth: int) -> list[Values]:
        items = [value for value in self.evaluate(function.value, scope, depth) if isinstance(value, Items)]
        if function.attr in ("get", "pop", "setdefault"):
            return [value.values for value in items]
        if function.attr in ("items", "keys", "values", "copy"):
            return [frozenset(items)]
        return []

    def _expressions(self, values: Values, scope: Scope) -> Iterable[tuple[ast.expr, Scope]]:
        for tree, inner in self.trees_of(values, scope, None):
            if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
                yield tree.body[0].value, inner

    def trees_of(self, values: Values, scope: Scope, line: int | None) -> Iterable[tuple[ast.Module, Scope]]:
        """The code in strings that are executed, each with its own scope whose lines are all `line`."""
        for value in values:
            if isinstance(value, Text):
                key = (value.text, id(scope))
                if key not in self._trees:
                    self.step()
                    tree = parse(value.text.strip())
                    tree = tree if isinstance(tree, ast.Module) else ast.Module([], [])
                    self._trees[key] = (tree, scope.inner(tree, line))
                    self._kept.append(scope)
                yield self._trees[key]
