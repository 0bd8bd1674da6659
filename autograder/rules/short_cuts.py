"""Finds the short-cuts that each component uses, directly or through the helpers that it needs, and tells of them."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from foundation.contract import Forbidden
from foundation.sources import Locate, Sources, in_module

from .forbidden import ForbiddenNames
from .names import (
    DEFINITIONS,
    Binding,
    Evaluator,
    Library,
    Scope,
    TooTangledError,
    Values,
    branches,
    children,
    listed,
)

MAX_CODE_SHOWN = 160
MOST = 3
LOOKED_UP = (ast.Name, ast.Attribute, ast.Call)
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

    found: list[ShortCut] = field(default_factory=list)
    needs: list[Binding] = field(default_factory=list)


def find_short_cuts(
    sources: Sources,
    components: Iterable[str],
    forbidden: Forbidden,
    notes: list[str] | None = None,
    evaluator: Evaluator | None = None,
) -> dict[str, list[ShortCut]]:
    """The short-cuts that components use.

    Args:
        sources: all modules of the package.
        components: "module.Name"; each is judged by itself, and none is charged with the code of another one.
        forbidden: what they must not use.
        notes: takes a line for code that could not be searched completely.
        evaluator: of these modules, where several searches share one; it reads each module once.

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
    if notes is not None:
        notes += [f"{what} is too tangled to be searched completely for forbidden short-cuts" for what in tangled]
    return found


class Search:
    """Visits each binding once."""

    def __init__(self, sources: Sources, components: list[str], evaluator: Evaluator) -> None:
        self.forbidden, self.evaluator = evaluator.forbidden, evaluator
        self.roots = {component: self._bindings(component) for component in components}
        self._looks: dict[Binding, Look] = {}
        for module in sources:
            for node in evaluator.module(module).assignments:
                self._attach_change(node, Scope(module))

    def of(self, component: str) -> list[ShortCut]:
        """The short-cuts of one component, nearest first."""
        self.evaluator.begin()
        own = self.roots[component]
        others = {binding for name, roots in self.roots.items() if name != component for binding in roots} - set(own)
        found = [short_cut for binding in own for short_cut in self._root(binding, component.partition(".")[2])]
        waiting, seen = list(own), set(own)
        while waiting:
            look = self._look(waiting.pop(0))
            found += look.found
            new = dict.fromkeys(binding for binding in look.needs if binding not in seen and binding not in others)
            seen |= new.keys()
            waiting += new
        return list(dict.fromkeys(found))

    def _bindings(self, component: str) -> list[Binding]:
        """The bindings of a component, through imports too."""
        module, _, name = component.partition(".")
        values = self.evaluator.look_up(module, name)
        found = dict.fromkeys(self.evaluator.visible(module, name))
        return [*(found | dict.fromkeys(value for value in values if isinstance(value, Binding)))]

    def _root(self, binding: Binding, name: str) -> Iterator[ShortCut]:
        """A component that *is* a short-cut: `LayerNorm = nn.LayerNorm`, `from torch.nn import LayerNorm`."""
        for path in self._forbidden_in(self.evaluator.values_of(binding, name)):
            yield self._short_cut(binding.module, binding.node, path)

    def _attach_change(self, node: ast.Assign, scope: Scope) -> None:
        """Attaches a statement like `LayerNorm.forward = …` or `layers.LayerNorm = …` to what it changes."""
        for target in node.targets:
            while isinstance(target, (ast.Attribute, ast.Subscript)):
                changed = self.evaluator.evaluate(target, scope) | self.evaluator.evaluate(target.value, scope)
                for binding in changed:
                    if isinstance(binding, Binding) and binding.node is not node:
                        binding.changes.append((node, scope))
                target = target.value

    def _look(self, binding: Binding) -> Look:
        if binding not in self._looks:
            look = self._looks[binding] = Look()
            scope = Scope(binding.module, position=binding.position)
            match binding.node:
                case ast.For(iter=node) | ast.AsyncFor(iter=node):
                    self._walk(node, scope, look)
                case node if not isinstance(binding.value, ast.alias):
                    self._walk(node, scope, look)
            for node, where in binding.changes:
                self._walk(node, where, look)
        return self._looks[binding]

    def _walk(self, start: ast.AST, scope: Scope, look: Look) -> None:
        waiting = [(start, scope)]
        while waiting:
            self.evaluator.step()
            node, scope = waiting.pop()
            waiting += reversed(list(self._visit(node, scope, look)))

    def _visit(self, node: ast.AST, scope: Scope, look: Look) -> Iterable[tuple[ast.AST, Scope]]:
        """Adds the uses in one node to `look`; returns the parts that remain to be visited."""
        if isinstance(node, (*DEFINITIONS, ast.Lambda)):
            return parts_of_definition(node, scope)
        parts: Iterable[ast.AST] = children(node)
        match node:
            case ast.Import() | ast.ImportFrom():
                return []
            case ast.If() | ast.IfExp() | ast.While():
                runs, runs_else = branches(node.test)
                parts = [node.test, *(listed(node.body) if runs else ()), *(listed(node.orelse) if runs_else else ())]
            case ast.Assign(targets, value) if not scope.is_class and all(map(is_name, targets)):
                parts = self._without_mentions(value, scope)
            case ast.Compare():
                sides = [one for side in (node.left, *node.comparators) for one in getattr(side, "elts", [side])]
                parts = [part for side in sides for part in self._without_mentions(side, scope)]
            case ast.Dict():
                keys = [part for key in node.keys if key for part in self._without_mentions(key, scope)]
                parts = [*keys, *node.values]
            case ast.MatchClass():
                parts = [*node.patterns, *node.kwd_patterns]
            case ast.Name() | ast.Attribute() | ast.Call() if isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                parts = self._visit_use(node, scope, look)
        return [(part, scope) for part in parts]

    def _visit_use(self, node: ast.expr, scope: Scope, look: Look) -> Iterable[ast.AST]:
        values = self.evaluator.evaluate(node, scope)
        look.needs += [value for value in values if isinstance(value, Binding)]
        if isinstance(node, ast.Attribute) and node.attr in ABOUT:
            return self._without_mentions(node.value, scope)
        if paths := self._forbidden_in(values):
            look.found.append(self._short_cut(scope.module, node, paths[0]))
            return getattr(node, "args", ())
        if isinstance(node, ast.Call):
            called = self.evaluator.evaluate(node.func, scope)
            functions = {value.path for value in called if isinstance(value, Library)}
            if functions & KIND_TESTS and len(node.args) == 2:
                return [node.args[0], *self._without_mentions(node.args[1], scope)]
            if "typing.cast" in functions:
                return node.args[1:]
        return children(node)

    def _without_mentions(self, node: ast.expr, scope: Scope) -> list[ast.AST]:
        """The parts to visit where naming or comparing an object does not count as a use."""
        waiting: list[ast.expr] = [node]
        kept: list[ast.AST] = []
        while waiting:
            node = waiting.pop()
            match node:
                case ast.IfExp(test, one, other):
                    kept.append(test)
                    waiting += [one, other]
                case ast.Tuple(parts):
                    waiting += parts
                case ast.BinOp(one, ast.BitOr(), other):
                    waiting += [one, other]
                case _ if isinstance(node, LOOKED_UP) and self._forbidden_in(self.evaluator.evaluate(node, scope)):
                    pass
                case _:
                    kept.append(node)
        return kept

    def _short_cut(self, module: str, node: ast.stmt | ast.expr, path: str) -> ShortCut:
        return ShortCut(module, node.lineno, path, code_at(self.evaluator, module, node.lineno))

    def _forbidden_in(self, values: Values) -> list[str]:
        """The forbidden paths among some values."""
        return sorted(value.path for value in values if isinstance(value, Library) and self.forbidden.has(value.path))


def is_name(target: ast.expr) -> bool:
    """Whether an assignment's target consists of plain names."""
    return all(map(is_name, target.elts)) if isinstance(target, (ast.Tuple, ast.List)) else isinstance(target, ast.Name)


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


def explain_short_cuts(found: Iterable[tuple[str, list[ShortCut]]], locate: Locate) -> str:
    """The message for students: which component uses what, and where.

    Args:
        found: components with their short-cuts.
        locate: where the student finds a line.
    """
    lines = []
    for component, short_cuts in found:
        module, _, name = component.partition(".")
        lines.append(f"{name} ({module}.py) uses {short_cuts[0].name}; the assignment asks you to write it yourself:")
        for short_cut in short_cuts[:MOST]:
            lines += [f"{locate(short_cut.module, short_cut.line)}:", f"    {short_cut.code}"]
        if len(short_cuts) > MOST:
            lines.append(f"… and {len(short_cuts) - MOST} more")
    return "\n".join(lines)


def tell_short_cuts(
    sources: Sources,
    judged: Mapping[str, Iterable[str]],
    forbidden: Forbidden,
    locate: Locate = in_module,
) -> dict[str, str]:
    """The messages in a student's own run, by task, for the tasks whose components use short-cuts.

    Args:
        sources: all modules.
        judged: task -> its components.
        forbidden: what they must not use.
        locate: where the student finds a line.
    """
    components = dict.fromkeys(component for own in judged.values() for component in own)
    found = find_short_cuts(sources, components, forbidden)
    used = {task: [(one, found[one]) for one in own if one in found] for task, own in judged.items()}
    return {task: explain_short_cuts(own, locate) for task, own in used.items() if own}
