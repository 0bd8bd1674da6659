"""What is done about imports before a submission is tested: libraries are loaded, and hostile modules replaced.

A worker cannot open files once submitted code runs, so what that imports is loaded before. A superfluous name does no
harm: only what `worker.loading` lists is ever imported, and no part of it that starts anything.

A submission whose `layers.py` loops at its top level would lose every component, since isolating one component imports
all modules. So a module that ends its process when it is imported is replaced by one that only raises.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from ..sources import Sources, absolute_imports, failing_module, tree_of
from .worker.loading import is_harmless

MAX_NAMES = 500


def wanted_imports(sources: Sources) -> list[str]:
    """The names to import before the submission runs, sorted."""
    names = frozenset[str]().union(*(_harmless_names_in(text) for _, text in sources.values()))
    return sorted(names)[:MAX_NAMES]


@lru_cache(maxsize=64)
def _harmless_names_in(text: str) -> frozenset[str]:
    """Those that a module's text names; the same text is asked about again for each of its workers."""
    tree = tree_of(text)
    return frozenset(filter(is_harmless, names_in(tree))) if isinstance(tree, ast.Module) else frozenset()


def names_in(tree: ast.Module) -> Iterator[str]:
    """What a module imports, and what it takes from that: some packages load a part when it is first asked for."""
    imported: dict[str, str] = {}
    nodes = [*ast.walk(tree)]
    for node in nodes:
        if isinstance(node, ast.Import):
            imported |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    yield from (name for name, _ in absolute_imports(tree))
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            yield f"{imported[node.value.id]}.{node.attr}"


def defuse(sources: Sources, end_of_import: Callable[[Sources, str], str], names: Iterable[str]) -> Sources:
    """The sources with every module replaced that ends its process.

    Args:
        sources: all modules.
        end_of_import: imports a module of such sources in a worker, which it may keep for the next call; returns why
            the worker ended, or "".
        names: of the modules to try.
    """
    suspects: dict[str, str] = {}
    for name in names:
        if name == "__init__":
            continue
        if reason := end_of_import(without(sources, suspects), name):
            suspects[name] = reason
    for name in list(suspects):  # a suspect may only have imported another one
        others = {other: reason for other, reason in suspects.items() if other != name}
        if others and not end_of_import(without(sources, others), name):
            del suspects[name]
    return without(sources, suspects)


def without(sources: Sources, reasons: dict[str, str]) -> Sources:
    """The sources with some modules replaced by ones whose import raises the reason."""
    replaced = {
        name: failing_module(name, f"{name}.py ended its process when it was imported: {reason}")
        for name, reason in reasons.items()
    }
    return {**sources, **replaced}
