"""What modules import, and what is done about it: libraries are loaded before a test, and hostile modules replaced.

A worker cannot open files once submitted code runs, so what that imports is loaded before. A superfluous name does no
harm: only what `worker.loading` lists is ever imported, and no part of it that starts anything.

A submission whose `layers.py` loops at its top level would lose every component, since isolating one component imports
all modules. So a module that ends its process when it is imported is replaced by one that only raises.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib.util import resolve_name

from ..intake.sources import Source, Sources, file_of, tree_of
from .worker.loading import is_harmless

MAX_NAMES = 500
TOP = "submission"
PARAMETERS = {
    "import_module": ("name", "package"),
    "__import__": ("name", "globals", "locals", "fromlist", "level"),
}


def imported_by(node: ast.AST) -> tuple[int, str, list[str]]:
    """The number of dots, the module and the names that a `from` statement or a call imports; nothing for others."""
    match node:
        case ast.ImportFrom(level=level, module=module, names=aliases):
            return level, module or "", [alias.name for alias in aliases]
        case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called)) if called in PARAMETERS:
            given = dict(zip(PARAMETERS[called], node.args, strict=False))
            given |= {one.arg: one.value for one in node.keywords if one.arg}
            name, dots = (getattr(given.get(key), "value", None) for key in ("name", "level"))
            names = getattr(given.get("fromlist"), "elts", [])
            if isinstance(name, str):
                dots = dots if isinstance(dots, int) else len(name) - len(name.lstrip("."))
                return dots, name.lstrip("."), [str(one.value) for one in names if isinstance(one, ast.Constant)]
    return 0, "", []


@lru_cache(maxsize=64)
def own_imports(text: str, importer: str, path: str = "", is_own_model: bool = False) -> tuple[str, ...]:
    """All that may be modules of the submission and that one of them imports, folders before what is in them.

    Takes that module's text, its name within the submission, and the path that it was read from. Imports are relative,
    in a model of one's own (with `adapters.py`) absolute too.
    """
    tree, found = tree_of(text), list[str]()
    own = [TOP, *importer.split(".")]
    package = ".".join(own if path.endswith("/__init__.py") else own[:-1])
    for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
        level, module, names = imported_by(node)
        if is_own_model and isinstance(node, ast.Import):
            module, names = "", [alias.name for alias in node.names]
        if is_own_model and (module or names):
            level = level or package.count(".") + 1
        if not 0 < level <= len(own):  # a number that is written there may be any
            continue
        with suppress(ImportError):  # dots that lead out of the submission
            folder = resolve_name("." * level + module, package).split(".")[1:]
            for parts in ([], *(name.split(".") for name in names)):
                whole = [*folder, *parts]
                found += (".".join(whole[:length]) for length in range(1, len(whole) + 1))
    return tuple(found)


def wanted_imports(sources: Sources) -> list[str]:
    """The names to import before the submission runs, sorted."""
    names = frozenset[str]().union(*(_harmless_names_in(text) for _, text in sources.values()))
    return sorted(names)[:MAX_NAMES]


@lru_cache(maxsize=64)
def _harmless_names_in(text: str) -> frozenset[str]:
    """Those that a module imports, or takes from an import: some packages load a part when it is first asked for."""
    tree, found, imported = tree_of(text), set[str](), dict[str, str]()
    nodes = [*ast.walk(tree)] if isinstance(tree, ast.Module) else []
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
            imported |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        level, module, names = imported_by(node)
        if module and not level:
            found |= {module, *(f"{module}.{name}" for name in names)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            found.add(f"{imported[node.value.id]}.{node.attr}")
    return frozenset(filter(is_harmless, found))


def defuse(sources: Sources, end_of_import: Callable[[Sources, str], str]) -> Sources:
    """The sources with every module replaced that ends its process.

    `end_of_import` imports a module of some sources in a worker, and returns why that ended, or "".
    """
    suspects: dict[str, str] = {}
    for name in sources:
        if name != "__init__" and (reason := end_of_import(without(sources, suspects), name)):
            suspects[name] = reason
    for name in list(suspects):  # a suspect may only have imported another one
        others = {other: reason for other, reason in suspects.items() if other != name}
        if others and not end_of_import(without(sources, others), name):
            del suspects[name]
    return without(sources, suspects)


def without(sources: Sources, reasons: dict[str, str]) -> Sources:
    """The sources with some modules replaced by ones whose import raises the reason."""
    replaced = {
        name: failing_module(name, f"{file_of(name)} ended its process when it was imported: {reason}")
        for name, reason in reasons.items()
    }
    return {**sources, **replaced}


def failing_module(name: str, reason: str) -> Source:
    """A module to put in place of one that cannot be used: importing it raises ImportError with the reason."""
    return file_of(name), f"raise ImportError({reason!r})\n"
