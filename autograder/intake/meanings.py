"""Imports and names in the text of a module, and what the names mean, also by way of other modules of a submission."""

import ast
import builtins
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

from ..sandbox.worker.loading import OWN_MODEL, PACKAGES, is_harmless
from .sources import Sources, tree_of

MAX_NAMES = 500
WATCHED = {"getattr", "setattr", "delattr"}
"""Built-in functions of which the worker sees what they reach, under their own names."""
Named = ast.Name | ast.Attribute | ast.Call
MOST_MEANT, LONGEST, OTHERS = 12, 200, "a name of many meanings"
"""So many dotted names are followed of one name, and so many characters of each: statements can double them.
For the rest stands one more, which is listed wherever it may be meant."""
MOST_STEPS = 1_000
"""From module to module, for one name."""


class Import(NamedTuple):
    """A statement: `from ..module import name`, or `import module` without names."""

    line: int
    level: int  # the number of dots
    module: str
    names: tuple[str, ...] = ()

    @property
    def wholes(self) -> list[str]:
        """The dotted names, without the dots before them, of all that may be a module."""
        return [self.module, *(f"{self.module}.{name}".lstrip(".") for name in self.names)]


@lru_cache(maxsize=64)
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    """All nodes of a module's syntax tree; none where it is not Python: the tests of its components say so."""
    tree = tree_of(text)
    return tuple(ast.walk(tree)) if isinstance(tree, ast.Module) else ()


@lru_cache(maxsize=64)
def imports_in(text: str) -> tuple[Import, ...]:
    """All imports of a module, wherever they stand in it."""
    imports = []
    for node in nodes_of(text):
        if isinstance(node, ast.Import):
            imports += [Import(node.lineno, 0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            imports.append(Import(node.lineno, node.level, node.module or "", names))
    return tuple(imports)


@lru_cache(maxsize=64)
def own_imports(text: str, importer: str, path: str = "", is_own_model: bool = False) -> tuple[str, ...]:
    """All that may be modules of the submission and that one of them imports, folders before what is in them.

    Takes that module's text, its name within the submission, and the path that it was read from. Imports are relative,
    in a model of one's own (with `adapters.py`) absolute too.
    """
    modules: list[str] = []
    folders = importer.split(".") if path.endswith("/__init__.py") else importer.split(".")[:-1]
    for imported in imports_in(text):
        n_above = imported.level - 1
        if n_above > len(folders) or not (imported.level or is_own_model):
            continue  # its dots lead out of the submission, or it is a library
        within = folders[: len(folders) - n_above] if imported.level else []
        for whole in filter(None, imported.wholes):
            parts = [*within, *whole.split(".")]
            modules += (".".join(parts[:length]) for length in range(1, len(parts) + 1))
    return tuple(modules)


def wanted_imports(sources: Sources) -> list[str]:
    """The names to import before a submission runs, sorted: a worker cannot open files once submitted code runs."""
    names = frozenset[str]().union(*(_harmless_names_in(text) for _, text in sources.values()))
    return sorted(names)[:MAX_NAMES]


@lru_cache(maxsize=64)
def _harmless_names_in(text: str) -> frozenset[str]:
    """Those that a module imports, or takes from an import: some packages load a part when it is first asked for."""
    names = {name for imported in imports_in(text) if not imported.level for name in imported.wholes}
    taken = {path for node, path in paths_in(text) if isinstance(getattr(node, "value", None), ast.Name)}
    names |= {path for path in taken if not path.startswith("builtins.")}
    return frozenset(filter(is_harmless, names))


@lru_cache(maxsize=64)
def bindings_in(text: str) -> Mapping[str, Collection[str]]:
    """The dotted names that imports and plain assignments bind each name to, wherever they stand in a module.

    One that begins with a dot is of another module of the submission; "*" has all whose names are imported.
    """
    known = defaultdict[str, set[str]](set)
    for name in {*dir(builtins), "__builtins__"} - WATCHED:
        known[name].add(f"builtins.{name}")

    def bind(name: str, *paths: str) -> None:
        known[name] = few(chain(known[name], paths))

    for node in nodes_of(text):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                bind(alias.asname or first, alias.name if alias.asname else first)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * bool(node.level) + (node.module or "")
            for alias in node.names:
                whole = origin if alias.name == "*" else f"{origin.rstrip('.')}.{alias.name}"
                bind(alias.asname or alias.name, whole)
        for target, value in _assigned(node):
            if paths := paths_of(value, known):
                bind(target, *paths)
    return known


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names and the expressions that a node binds them to, also one by one; arguments are bound to their defaults."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from chain.from_iterable(_paired(target, value) for target in targets)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
            | ast.withitem(context_expr=value, optional_vars=ast.expr() as target)
        ):
            yield from _paired(target, value)
        case (
            ast.For(target=target, iter=ast.Tuple(values) | ast.List(values))
            | ast.comprehension(target=target, iter=ast.Tuple(values) | ast.List(values))
        ):
            yield from chain.from_iterable(_paired(target, value) for value in values)
        case ast.arguments(posonlyargs=first, args=others, kwonlyargs=named, kw_defaults=of_named, defaults=defaults):
            ends = zip(reversed([*first, *others]), reversed(defaults), strict=False)
            yield from ((argument.arg, value) for argument, value in ends)
            yield from ((argument.arg, value) for argument, value in zip(named, of_named, strict=True) if value)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The names in a target, with the parts of a value that they get."""
    match target, value:
        case ast.Name(name), _:
            yield name, value
        case ast.Tuple(targets) | ast.List(targets), ast.Tuple(values) | ast.List(values):
            for pair in zip(targets, values, strict=False):
                yield from _paired(*pair)


def own_names(sources: Sources) -> frozenset[str]:
    """The modules of a model of one's own that are imported without a dot: they come before Python's."""
    own = {name.split(".")[1] for name in sources if name.startswith(f"{OWN_MODEL}.")}
    return frozenset(own - {"builtins", *PACKAGES})


@lru_cache(maxsize=256)
def bindings_among(text: str, own: frozenset[str]) -> Mapping[str, Collection[str]]:
    """As `bindings_in`, with a dot before the names of one's own modules."""
    pairs = bindings_in(text).items()
    return {name: {f".{path}" if path.partition(".")[0] in own else path for path in paths} for name, paths in pairs}


def few(paths: Iterable[str]) -> set[str]:
    """Some dotted names, of which OTHERS stands for those that are too many or too long."""
    kept = set[str]()
    for path in paths:
        kept.add(path if len(path) <= LONGEST and not path.startswith(OTHERS) else OTHERS)
        if len(kept) > MOST_MEANT:
            return kept | {OTHERS}
    return kept


def paths_in(text: str, sources: Sources | None = None) -> Iterator[tuple[Named, str]]:
    """Yield the names, attributes and calls in a module, with the dotted name of what is meant.

    Such a name is "torch.nn.LayerNorm" or "builtins.vars", where imports and plain assignments show it, in other
    modules of the submission, too; otherwise "". Where several may be meant, there is a pair for each. Any attribute
    may be one of a module of the submission that is used other than for an attribute.
    """
    sources = sources or {}
    known = bindings_among(text, own_names(sources))
    resolved = cache(lambda path: few(name for name in _followed(path, sources) if not name.startswith(".")))
    nodes = [node for node in nodes_of(text) if isinstance(node, Named)]
    loose = handed_on(text, sources)
    for node in nodes:
        if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)):
            meant = paths_of(node.func if isinstance(node, ast.Call) else node, known)
            if isinstance(node, ast.Attribute):
                meant += (f"{own}.{node.attr}" for own in loose)
            paths = few(whole for path in meant for whole in resolved(path))
            yield from ((node, path) for path in sorted(paths) or [""])


def handed_on(text: str, sources: Sources) -> set[str]:
    """The modules of the submission that one uses other than for an attribute, each with a dot before it."""
    known = bindings_among(text, own_names(sources))
    nodes = [node for node in nodes_of(text) if isinstance(node, (ast.Name, ast.Attribute))]
    owners = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    values = (node for node in nodes if id(node) not in owners)
    return few(own for node in values for path in paths_of(node, known) for own in _own_modules(path, sources))


def paths_of(node: ast.AST, known: Mapping[str, Collection[str]]) -> list[str]:
    """The dotted names that an expression may have, where those of its first name are known."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return []
    stars = (origin for origin in known.get("*", ()) if node.id in public_names(origin, [node.id]))
    firsts = known.get(node.id) or [f"{origin.rstrip('.')}.{node.id}" for origin in stars]
    return [".".join([first, *reversed(attributes)]) for first in firsts]


def names_of(module: str, otherwise: Collection[str] = ()) -> Collection[str]:
    """A module's names, as far as it is loaded here."""
    return vars(sys.modules[module]) if module in sys.modules else otherwise


def public_names(module: str, otherwise: Collection[str] = ()) -> Collection[str]:
    """Those that `from module import *` binds."""
    names = names_of(module, otherwise)
    public: Collection[str] = getattr(sys.modules.get(module), "__all__", [name for name in names if name[:1] != "_"])
    return public


def _followed(path: str, sources: Sources) -> Iterator[str]:
    """Yield a dotted name; of another module of the submission, all that its imports bind the name to, to the end.

    Those on the way begin with a dot, as `path` does; the ends do not.
    """
    waiting, met, own = [path], set[str](), own_names(sources)
    while waiting:
        path = waiting.pop()
        if not path.startswith("."):
            yield path
            continue
        if path in met:
            continue
        met.add(path)
        if len(met) > MOST_STEPS or len(path) > LONGEST:
            yield OTHERS
            return
        yield path
        parts = path[1:].split(".")
        for end in range(1, len(parts)):
            name = ".".join(parts[:end])
            for module, (_, text) in sources.items():
                of_module = bindings_among(text, own) if f".{module}".endswith(f".{name}") else {}
                origins = paths_of(ast.Name(parts[end]), of_module)
                imported = (origin for origin in origins if not origin.startswith("builtins."))
                waiting += (".".join([origin, *parts[end + 1 :]]) for origin in imported)


def own_definitions(component: str, sources: Sources) -> Iterator[tuple[str, str]]:
    """Yield the modules of the submission, and the names in them, that a component may mean: its own one first."""
    for path in _followed(f".{component}", sources):
        within, _, name = path.rpartition(".")
        if within.startswith("."):
            yield from ((module, name) for module in sorted(sources, key=len) if f".{module}".endswith(within))


def _own_modules(path: str, sources: Sources) -> list[str]:
    """The modules of the submission that a dotted name may mean, each with a dot before it."""
    names = (name for name in _followed(path, sources) if name.startswith("."))
    return [name for name in names if any(f".{module}".endswith(name) for module in sources)]
