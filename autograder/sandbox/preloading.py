"""Finds the modules to import before submitted code runs, since a worker cannot open files afterwards.

A superfluous name does no harm: only what `worker.available` lists is ever imported, and no part of it that starts
anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.sources import Sources

from ..syntax_trees import absolute_imports, parse
from .worker.available import is_harmless

MAX_NAMES = 500


def wanted_imports(sources: Sources) -> list[str]:
    """The names to import before the submission runs, sorted."""
    trees = (parse(text) for _, text in sources.values())
    names = {name for tree in trees if isinstance(tree, ast.Module) for name in names_in(tree)}
    return sorted(filter(is_harmless, names))[:MAX_NAMES]


def names_in(tree: ast.Module) -> Iterator[str]:
    """What a module imports, and what it takes from that: some packages load a part when it is first asked for."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    yield from (name for name, _ in absolute_imports(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imported:
            yield f"{imported[node.value.id]}.{node.attr}"
