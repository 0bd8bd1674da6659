"""Finds the short-cuts that each component uses, itself or through helpers, and lists the uses of internals.

The forbidden names are in `[contract.forbidden]` of `assignment.toml`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from autograder.sources import Locate, Sources, in_module
from foundation.assignment_tables import Forbidden

from .names import NO_TEXT, Local, Names, body_of, is_never_true

MAX_CODE_SHOWN = 160
MOST_SHOWN, MOST_INTERNALS = 3, 20
ABOUT = {"__doc__", "__name__", "__qualname__", "__module__"}
NOT_RUN = ("annotation", "returns", "type_comment")
BY_NAME = {
    "builtins.getattr": 1,
    "builtins.setattr": 1,
    "builtins.delattr": 1,
    "operator.attrgetter": 0,
    "operator.methodcaller": 0,
}
"""Functions that reach anything by a name, and the position of this name among their arguments."""


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
    """The short-cuts in one definition, and the other definitions that it needs, as module and name."""

    found: list[ShortCut] = field(default_factory=list)
    needs: dict[tuple[str, str], None] = field(default_factory=dict)


def find_short_cuts(
    sources: Sources, components: Iterable[str], forbidden: Forbidden, notes: list[str] | None = None
) -> dict[str, list[ShortCut]]:
    """The short-cuts that components use.

    Args:
        sources: all modules of the package.
        components: "module.Name"; each is judged by itself, and none is charged with the code of another one.
        forbidden: what they must not use.
        notes: takes a line for code that could not be searched.

    Returns:
        The short-cuts of the components that use any, nearest first.
    """
    components = list(components)
    search = Search(sources, forbidden)
    found, tangled = {}, [f"{name}.py" for name, module in search.names.modules.items() if module.is_tangled]
    for component in components:
        try:
            if short_cuts := search.of(component, {*components} - {component}):
                found[component] = short_cuts
        except RecursionError:
            tangled.append(component)
    if notes is not None:
        notes += [f"{what} is too tangled to be searched completely for forbidden short-cuts" for what in tangled]
    return found


class Search:
    """Visits each definition once."""

    def __init__(self, sources: Sources, forbidden: Forbidden) -> None:
        self.names = Names(sources, forbidden)
        self._looks: dict[tuple[str, str], Look] = {}

    def of(self, component: str, others: set[str]) -> list[ShortCut]:
        """The short-cuts of one component; the definitions of `others` are not its own."""
        module, _, name = component.partition(".")
        if module not in self.names.modules:
            return []
        path = self.names.look_up(module, name)
        found = []
        if self.names.forbidden.has(path):  # it *is* one: `LayerNorm = nn.LayerNorm`
            found.append(self._short_cut(module, self.names.modules[module].places.get(name, 0), path))
        waiting = dict.fromkeys([(module, name), self.names.split(path)[:2]])
        seen = set(waiting)
        while waiting:
            place = next(iter(waiting))
            del waiting[place]
            look = self._look(*place)
            found += look.found
            new = [one for one in look.needs if one not in seen and ".".join(one) not in others]
            seen.update(new)
            waiting |= dict.fromkeys(new)
        return list(dict.fromkeys(found))

    def _look(self, module: str, name: str) -> Look:
        if (module, name) not in self._looks:
            look = self._looks[module, name] = Look()
            known = self.names.modules.get(module)
            for start in known.definitions.get(name, ()) if known else ():
                for node, local in self.walk(start, module):
                    path = self.names.path_of(node, module, local)
                    if self.names.forbidden.has(path):
                        look.found.append(self._short_cut(module, node.lineno, path))
                    elif all(own := self.names.split(path)[:2]):
                        look.needs[own] = None
        return self._looks[module, name]

    def walk(self, start: ast.AST, module: str) -> Iterator[tuple[ast.expr, Local]]:
        """The names, attributes and calls in a piece of code that are used when it runs, with their functions' names.

        Comparing something with them, or asking for their name, is no use.
        """
        waiting: list[tuple[ast.AST, Local]] = [(start, {})]
        while waiting:
            node, local = waiting.pop()
            parts = children(node)
            match node:
                case ast.Import() | ast.ImportFrom():
                    continue
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                    inner = self.names.inside(node, module, local)
                    waiting += [(part, inner) for part in body_of(node)][::-1]
                    outside = [*getattr(node, "decorator_list", ()), *node.args.defaults, *node.args.kw_defaults]
                    parts = [part for part in outside if part]
                case ast.If(test, _, orelse) if is_never_true(test):
                    parts = [*orelse]
                case ast.Compare(left, _, others):
                    parts = [part for side in (left, *others) for part in without_mentions(side)]
                case ast.Dict(keys, values):
                    parts = [part for key in keys if key for part in without_mentions(key)] + [*values]
                case ast.Subscript(value, index):
                    parts = [value, *without_mentions(index)]
                case ast.MatchClass():
                    parts = [*node.patterns, *node.kwd_patterns]
                case ast.Attribute(value, name) if name in ABOUT:
                    parts = without_mentions(value)
                case ast.Call(function, arguments, keywords):
                    called = self.names.path_of(function, module, local)
                    if called in BY_NAME:
                        parts = [*arguments, *keywords]
                    elif called in ("builtins.isinstance", "builtins.issubclass") and len(arguments) == 2:
                        parts = [arguments[0], *without_mentions(arguments[1])]
                    elif called == "typing.cast":
                        parts = [*arguments[1:]]
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
                is_bound_here = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
                if not is_bound_here and getattr(node, "attr", "") not in ABOUT:
                    yield node, local
                if isinstance(node, ast.Attribute) and self.names.path_of(node, module, local):
                    continue  # what it is an attribute of need not be named, too
            waiting += [(part, local) for part in parts][::-1]

    def _short_cut(self, module: str, line: int, path: str) -> ShortCut:
        return ShortCut(module, line, path, self.names.modules[module].code_at(line)[:MAX_CODE_SHOWN])


def children(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that are run."""
    fields = (part for name, part in ast.iter_fields(node) if name not in NOT_RUN)
    return [one for part in fields for one in (part if isinstance(part, list) else [part]) if isinstance(one, ast.AST)]


def without_mentions(node: ast.expr) -> list[ast.AST]:
    """The parts of an expression to visit where naming an object does not count as a use."""
    match node:
        case ast.Name() | ast.Attribute():
            return []
        case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
            return [one for part in parts for one in without_mentions(part)]
        case ast.BinOp(left, ast.BitOr(), right):
            return [*without_mentions(left), *without_mentions(right)]
    return [node]


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
        for short_cut in short_cuts[:MOST_SHOWN]:
            lines += [f"{locate(short_cut.module, short_cut.line)}:", f"    {short_cut.code}"]
        if len(short_cuts) > MOST_SHOWN:
            lines.append(f"… and {len(short_cuts) - MOST_SHOWN} more")
    return "\n".join(lines)


def tell_short_cuts(
    sources: Sources, judged: Mapping[str, Iterable[str]], forbidden: Forbidden, locate: Locate = in_module
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


def find_internals(
    sources: Sources, modules: Iterable[str], forbidden: Forbidden, release: Sources | None = None
) -> list[ShortCut]:
    """The uses of internals: allowed, but a person should read them. One for each line; at most `MOST_INTERNALS`.

    Args:
        sources: all modules of the package.
        modules: those that the submission brings.
        forbidden: whose `internals` are looked for.
        release: what was handed out, whose own lines are left out.
    """
    given = {name: {line.strip() for line in text.split("\n")} for name, (_, text) in (release or {}).items()}
    search, pattern = Search(sources, forbidden), re.compile(forbidden.internals or NO_TEXT)
    found: dict[tuple[str, int], ShortCut] = {}
    for name in sorted(modules):
        module = search.names.modules[name]
        for node, local in search.walk(module.tree, name) if module.tree else ():
            used = name_of_internal(node, name, local, search.names, pattern)
            code = module.code_at(node.lineno)[:MAX_CODE_SHOWN]
            if used and code not in given.get(name, ()):
                found.setdefault((name, node.lineno), ShortCut(name, node.lineno, used, code))
    uses = [found[place] for place in sorted(found)]
    if len(uses) > MOST_INTERNALS:
        cut = uses[MOST_INTERNALS - 1]
        more = f"{cut.name}, and more in {len(uses) - MOST_INTERNALS} other lines"
        uses[MOST_INTERNALS - 1 :] = [replace(cut, name=more)]
    return uses


def name_of_internal(node: ast.expr, module: str, local: Local, names: Names, pattern: re.Pattern[str]) -> str:
    """The name by which a node is on the list of internals, or ""."""
    path = names.path_of(node, module, local)
    for listed in (path, f".{node.attr}" if isinstance(node, ast.Attribute) else ""):
        if listed and pattern.fullmatch(listed):
            return listed
    if isinstance(node, ast.Call):
        function = names.path_of(node.func, module, local)
        place = BY_NAME.get(function, len(node.args))
        is_constant = len(node.args) > place and isinstance(node.args[place], ast.Constant)
        return f"{function.partition('.')[2]} with a computed name" if function in BY_NAME and not is_constant else ""
    return f"{path.partition('.')[2]} under another name" if path in BY_NAME else ""
