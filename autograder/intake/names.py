"""Imports and names in the text of a module: read once, whoever asks; nothing is run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from ..sandbox.worker.loading import is_harmless
from .sources import Sources, tree_of

MAX_NAMES = 500
WATCHED = {"getattr", "setattr", "delattr"}
"""Built-in functions of which the worker sees what they reach, under their own names."""
Named = ast.Name | ast.Attribute | ast.Call | ast.MatchClass


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
