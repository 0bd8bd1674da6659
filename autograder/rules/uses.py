"""Finds the short-cuts that each component uses, directly or through the helpers that it needs."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from foundation.contract import Forbidden
from foundation.sources import Sources

from .evaluation import RUN_TEXT, Evaluator, TooTangledError
from .forbidden import ForbiddenNames
from .module_names import DEFINITIONS, LOOPS, branches
from .scopes import Scope
from .syntax import changed_by, children, is_name, listed
from .values import Binding, Library, OwnModule, Values

MAX_CODE_SHOWN = 160
LOOKED_UP = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
KIND_TESTS = {"builtins.isinstance", "builtins.issubclass"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
ABOUT = {"__doc__", "__name__", "__qualname__", "__module__"}


@dataclass(frozen=True)
class ShortCut:
    """A forbidden thing in use.

    Attributes:
        module: that contains it.
        line: of the module.
        name: that is used, "torch.nn.LayerNorm".
        code: the line itself.
    """

    module: str
    line: int
    name: str
    code: str


@dataclass
class Look:
    """The short-cuts at one binding, and the other bindings that it needs."""

    found: list[ShortCut]
    needs: list[Binding]


def find_short_cuts(
    sources: Sources,
    components: Iterable[str],
    forbidden: Forbidden,
    notes: list[str] | None = None,
    evaluator: Evaluator | None = None,
    code: dict[str, list[Binding]] | None = None,
) -> dict[str, list[ShortCut]]:
    """The short-cuts that components use.

    Args:
        sources: all modules of the package.
        components: "module.Name"; each is judged by itself, and none is charged with the code of another one.
        forbidden: what they must not use.
        notes: takes a line for code that could not be searched completely.
        evaluator: of these modules, where several searches share one; it reads each module once.
        code: takes the code of each component; see `Search`.

    Returns:
        The short-cuts of the components that use any.
    """
    components = list(components)
    found: dict[str, list[ShortCut]] = {}
    tangled: list[str] = []
    try:
        search = Search(sources, components, evaluator or Evaluator(sources, ForbiddenNames(forbidden)))
    except (TooTangledError, RecursionError):
        tangled = ["the code"]
    else:
        tangled = [f"{name}.py" for name in sources if search.evaluator.module(name).is_tangled]
        for component in components:
            try:
                if short_cuts := search.of(component):
                    found[component] = short_cuts
            except (TooTangledError, RecursionError):
                tangled.append(component)
        if code is not None:
            code.update(search.code)
    if notes is not None:
        notes += [f"{what} is too tangled to be searched completely for forbidden short-cuts" for what in tangled]
    return found


class Search:
    """Visits each binding once.

    Attributes:
        code: the bindings of each component that was searched, and all that they need but other components, nearest
            first.
    """

    def __init__(self, sources: Sources, components: list[str], evaluator: Evaluator) -> None:
        self.forbidden, self.evaluator = evaluator.forbidden, evaluator
        self.roots = {component: self._bindings(component) for component in components}
        self.code: dict[str, list[Binding]] = {}
        self._looks: dict[Binding, Look] = {}
        self._attach_changes(sources)

    def of(self, component: str) -> list[ShortCut]:
        """The short-cuts of one component, nearest first."""
        self.evaluator.n_steps = 0
        own = self.roots[component]
        others = {binding for name, roots in self.roots.items() if name != component for binding in roots} - set(own)
        found = [short_cut for binding in own for short_cut in self._root(binding, component.partition(".")[2])]
        waiting, seen = list(own), set(own)
        visited = self.code[component] = []
        while waiting:
            visited.append(waiting.pop(0))
            look = self._look(visited[-1])
            found += look.found
            for binding in look.needs:
                if binding not in seen and binding not in others:
                    seen.add(binding)
                    waiting.append(binding)
        return list(dict.fromkeys(found))

    def _bindings(self, component: str) -> list[Binding]:
        """The bindings of a component, through imports too."""
        module, _, name = component.partition(".")
        found = self.evaluator.visible(module, name)
        for value in self.evaluator.look_up(module, name):
            if isinstance(value, Binding) and value not in found:
                found.append(value)
        return found

    def _root(self, binding: Binding, name: str) -> Iterator[ShortCut]:
        """A component that *is* a short-cut: `LayerNorm = nn.LayerNorm`, `from torch.nn import LayerNorm`."""
        for path in self._forbidden_in(self.evaluator.values_of(binding, name)):
            yield self._short_cut(binding.module, binding.line, path)

    def _attach_changes(self, sources: Iterable[str]) -> None:
        """Attaches statements like `LayerNorm.forward = …` to the bindings that they change."""
        for module in sources:
            names = self.evaluator.module(module)
            for node, position in names.statements:
                scope = Scope(module, position=position, line=names.exec_lines.get(id(node)))
                for changed in changed_by(node):
                    values = self.evaluator.evaluate(changed, scope)
                    if isinstance(changed, ast.Attribute):  # module.Name = …
                        for value in self.evaluator.evaluate(changed.value, scope):
                            if isinstance(value, OwnModule):
                                values |= self.evaluator.look_up(value.name, changed.attr)
                    for value in values:
                        if isinstance(value, Binding) and value.node is not node:
                            value.changes.append((node, scope))

    def _look(self, binding: Binding) -> Look:
        if binding not in self._looks:
            look = self._looks[binding] = Look([], [])
            line = self.evaluator.module(binding.module).exec_lines.get(id(binding.node))
            scope = Scope(binding.module, position=binding.position, line=line)
            if isinstance(binding.node, LOOPS):
                self._walk(binding.node.iter, scope, look)
            elif not isinstance(binding.value, ast.alias):
                self._walk(binding.node, scope, look)
            for node, where in binding.changes:
                self._walk(node, where, look)
        return self._looks[binding]

    def _walk(self, start: ast.AST, scope: Scope, look: Look) -> None:
        waiting = [(start, scope)]
        while waiting:
            self.evaluator.step()
            node, scope = waiting.pop()
            parts = self._visit(node, scope, look)
            waiting += reversed(list(parts))

    def _visit(self, node: ast.AST, scope: Scope, look: Look) -> Iterable[tuple[ast.AST, Scope]]:
        """Adds the uses in one node to `look`; returns the parts that remain to be visited."""
        if isinstance(node, (*DEFINITIONS, ast.Lambda)):
            return parts_of_definition(node, scope)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return []
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            runs, runs_else = branches(node.test)
            parts = [node.test, *(listed(node.body) if runs else ()), *(listed(node.orelse) if runs_else else ())]
            return [(part, scope) for part in parts]
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            is_alias = not scope.is_class and all(map(is_name, targets))
            values = self._without_aliases(node.value, scope) if is_alias else [node.value]
            return [(part, scope) for part in (*targets, *values)]
        if isinstance(node, ast.Compare):
            return [(part, scope) for side in (node.left, *node.comparators) for part in self._mentions(side, scope)]
        if isinstance(node, ast.MatchClass):
            return [(part, scope) for part in (*node.patterns, *node.kwd_patterns)]
        if isinstance(node, LOOKED_UP) and isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
            return self._visit_use(node, scope, look)
        return [(part, scope) for part in children(node)]

    def _visit_use(self, node: ast.expr, scope: Scope, look: Look) -> Iterable[tuple[ast.AST, Scope]]:
        values = self.evaluator.evaluate(node, scope)
        look.needs += [value for value in values if isinstance(value, Binding)]
        if isinstance(node, ast.Attribute) and node.attr in ABOUT:
            return [(part, scope) for part in self._without_aliases(node.value, scope)]
        if paths := self._forbidden_in(values):
            look.found.append(self._short_cut(scope.module, scope.line or node.lineno, paths[0]))
            return [(part, scope) for part in getattr(node, "args", ())]
        if isinstance(node, ast.Call):
            called = self.evaluator.evaluate(node.func, scope)
            functions = {value.path for value in called if isinstance(value, Library)}
            if functions & KIND_TESTS and len(node.args) == 2:
                return [(part, scope) for part in (node.args[0], *self._mentions(node.args[1], scope))]
            if "typing.cast" in functions:
                return [(part, scope) for part in node.args[1:]]
            if functions & RUN_TEXT and node.args:
                texts = self.evaluator.evaluate(node.args[0], scope)
                trees = self.evaluator.trees_of(texts, scope, scope.line or node.lineno)
                return [(part, scope) for part in children(node)] + list(trees)
        return [(part, scope) for part in children(node)]

    def _mentions(self, node: ast.expr, scope: Scope) -> Iterable[ast.AST]:
        """The parts of a comparison that do more than mention a class."""
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return [part for element in node.elts for part in self._mentions(element, scope)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return [*self._mentions(node.left, scope), *self._mentions(node.right, scope)]
        return self._without_aliases(node, scope)

    def _without_aliases(self, node: ast.expr, scope: Scope) -> Iterable[ast.AST]:
        """The parts to visit where naming or comparing an object does not count as a use."""
        waiting: list[ast.expr] = [node]
        kept: list[ast.AST] = []
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.IfExp):
                kept.append(node.test)
                waiting += [node.body, node.orelse]
            elif isinstance(node, ast.Tuple):
                waiting += node.elts
            elif not isinstance(node, LOOKED_UP) or not self._forbidden_in(self.evaluator.evaluate(node, scope)):
                kept.append(node)
        return kept

    def _short_cut(self, module: str, line: int, path: str) -> ShortCut:
        return ShortCut(module, line, path, code_at(self.evaluator, module, line))

    def _forbidden_in(self, values: Values) -> list[str]:
        """The forbidden paths among some values."""
        return sorted(value.path for value in values if isinstance(value, Library) and self.forbidden.has(value.path))


def parts_of_definition(node: Definition, scope: Scope) -> list[tuple[ast.AST, Scope]]:
    """The parts of a function or class, each with the scope that it is in."""
    outside: list[ast.expr] = [] if isinstance(node, ast.Lambda) else [*node.decorator_list]
    if isinstance(node, ast.ClassDef):
        outside += [*node.bases, *(keyword.value for keyword in node.keywords)]
        inner = scope.inner(node)
    else:
        outside += [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        inner = scope.after_import().inner(node)
    return [(part, scope) for part in outside] + [(part, inner) for part in listed(node.body)]


def code_at(evaluator: Evaluator, module: str, line: int) -> str:
    """A line of a module, cut to what is shown."""
    lines = evaluator.module(module).lines
    return lines[line - 1].strip()[:MAX_CODE_SHOWN] if 0 < line <= len(lines) else ""
