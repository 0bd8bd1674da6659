"""The imports of a submission: libraries are loaded before it runs, and hostile modules replaced.

A worker cannot open files once submitted code runs, so what that imports is loaded before. A superfluous name does no
harm: only what `worker.loading` lists is ever imported, and no part of it that starts anything.

A submission whose `layers.py` loops at its top level would lose every component, since isolating one component imports
all modules. So a module that ends its process when it is imported is replaced by one that only raises.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache

from ..intake.names import imports_in, paths_in
from ..intake.sources import Sources, failing_module, file_of
from .worker.loading import is_harmless

MAX_NAMES = 500


def wanted_imports(sources: Sources) -> list[str]:
    """The names to import before the submission runs, sorted."""
    names = frozenset[str]().union(*(_harmless_names_in(text) for _, text in sources.values()))
    return sorted(names)[:MAX_NAMES]


@lru_cache(maxsize=64)
def _harmless_names_in(text: str) -> frozenset[str]:
    """Those that a module imports, or takes from an import: some packages load a part when it is first asked for."""
    names = {name for imported in imports_in(text) if not imported.level for name in imported.wholes}
    taken = {path for node, path in paths_in(text) if isinstance(getattr(node, "value", None), ast.Name)}
    names |= {path for path in taken if not path.startswith("builtins.")}
    return frozenset(filter(is_harmless, names))


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
