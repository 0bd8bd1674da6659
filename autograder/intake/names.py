"""Imports and names in the text of a module: read once, whoever asks; nothing is run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.util import resolve_name
from typing import NamedTuple

from ..sandbox.worker.loading import is_harmless
from .sources import Sources, tree_of

MAX_NAMES = 500
TOP = "submission"
MOST_FOLDERS = 20
"""Within each other; a name of 50,000 parts would stand for as many folders, whose names fill the memory."""
PARAMETERS = {
    "import_module": ("name", "package"),
    "__import__": ("name", "globals", "locals", "fromlist", "level"),
}
WATCHED = {"getattr", "setattr", "delattr"}
"""Built-in functions of which the worker sees what they reach, under their own names."""
Named = ast.Name | ast.Attribute | ast.Call | ast.MatchClass


class Import(NamedTuple):
    """An import, by a statement or by a call: `from ..module import name`, or `import module` without names."""

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
    return tuple(part for node in nodes_of(text) for part in imported_by(node))


def imported_by(node: ast.AST) -> Iterator[Import]:
    """The imports of one statement or call."""
    match node:
        case ast.Import(names=aliases):
            yield from (Import(node.lineno, 0, alias.name) for alias in aliases)
        case ast.ImportFrom(level=level, module=module, names=aliases):
            yield Import(node.lineno, level, module or "", tuple(alias.name for alias in aliases))
        case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if called in PARAMETERS:
            given = dict(zip(PARAMETERS[called], node.args, strict=False))
            given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
            name, dots = (getattr(given.get(key), "value", None) for key in ("name", "level"))
            names = (getattr(part, "value", "") for part in getattr(given.get("fromlist"), "elts", []))
            if isinstance(name, str):
                level = dots if isinstance(dots, int) else len(name) - len(name.lstrip("."))
                yield Import(node.lineno, level, name.lstrip("."), tuple(map(str, names)))


@lru_cache(maxsize=64)
def own_imports(text: str, importer: str, path: str = "", is_own_model: bool = False) -> tuple[str, ...]:
    """All that may be modules of the submission and that one of them imports, folders before what is in them.

    Takes that module's text, its name within the submission, and the path that it was read from. Imports are relative,
    in a model of one's own (with `adapters.py`) absolute too.
    """
    modules: list[str] = []
    own = [TOP, *importer.split(".")]
    package = ".".join(own if path.endswith("/__init__.py") else own[:-1])
    for imported in imports_in(text):
        level = imported.level or (package.count(".") + 1 if is_own_model else 0)
        if not 0 < level <= len(own):  # a number that is written there may be any
            continue
        with suppress(ImportError):  # dots that lead out of the submission
            for whole in imported.wholes:
                parts = resolve_name("." * level + whole, package).split(".", MOST_FOLDERS)[1:MOST_FOLDERS]
                modules += (".".join(parts[:length]) for length in range(1, len(parts) + 1))
    return tuple(modules)


def wanted_imports(sources: Sources) -> list[str]:
    """The names to import before a submission runs, sorted: a worker cannot open files once submitted code runs.

    A superfluous name does no harm: only what `worker.loading` lists is imported, and no part that starts anything.
    """
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
def paths_in(text: str) -> tuple[tuple[Named, str], ...]:
    """The names, attributes, calls and class patterns in a module, with the dotted name of what is named or called.

    Such a name is "torch.nn.LayerNorm" or "builtins.vars", where imports and plain assignments show it; otherwise "".
    """
    known = {name: f"builtins.{name}" for name in {*dir(builtins), "__builtins__"} - WATCHED}
    paths: list[tuple[Named, str]] = []
    for node in nodes_of(text):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                known[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and not node.level:
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Assign) and (path := path_of(node.value, known)):
            known |= {target.id: path for target in node.targets if isinstance(target, ast.Name)}
    for node in nodes_of(text):
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
            paths.append((node, path_of(node, known)))
        elif isinstance(node, ast.Call):
            paths.append((node, path_of(node.func, known)))
        elif isinstance(node, ast.MatchClass):
            paths.append((node, ""))
    return tuple(paths)


def path_of(node: ast.AST, known: Mapping[str, str]) -> str:
    """The dotted name of an expression, where that of its first name is known; otherwise ""."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    first = known.get(node.id, "") if isinstance(node, ast.Name) else ""
    return ".".join([first, *reversed(attributes)]) if first else ""
