"""What modules import, and what is done about it: libraries are loaded before a test, and hostile modules replaced.

A worker cannot open files once submitted code runs, so what that imports is loaded before. A superfluous name does no
harm: only what `worker.loading` lists is ever imported, and no part of it that starts anything.

A submission whose `layers.py` loops at its top level would lose every component, since isolating one component imports
all modules. So a module that ends its process when it is imported is replaced by one that only raises.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from ..sources import Source, Sources, file_of, tree_of
from .worker.loading import is_harmless

MAX_NAMES = 500


def resolve(importer: str, is_package: bool, level: int, name: str | None) -> str | None:
    """The module that `from .name import …` means.

    Args:
        importer: name of the module that the line stands in, within the submission: "layers", "tools.soft".
        is_package: whether that is the `__init__.py` of a folder.
        level: number of dots.
        name: after the dots, or None.

    Returns:
        Its name within the submission, "" for the submission itself; None if the dots lead out of it.
    """
    parts = importer.split(".") if is_package else importer.split(".")[:-1]
    if level > len(parts) + 1:
        return None
    return ".".join([*parts[: len(parts) + 1 - level], *filter(None, [name])])


@lru_cache(maxsize=64)
def relative_imports(text: str, importer: str, path: str = "") -> tuple[str, ...]:
    """All that may be modules of the submission and that one of them imports, folders before what is in them.

    Args:
        text: of the module; where it cannot be read, it imports nothing.
        importer: its name within the submission.
        path: where it was read from.
    """
    tree, found = tree_of(text), list[str]()
    for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
        if isinstance(node, ast.ImportFrom):
            level, module, names = node.level, node.module or "", [alias.name for alias in node.names]
        elif isinstance(node, ast.Call):
            level, module, names = _imported_by_call(node)
        else:
            continue
        origin = resolve(importer, path.endswith("/__init__.py"), level, module) if level else None
        if origin is not None:
            parts = origin.split(".") if origin else []
            found += (".".join(parts[:length]) for length in range(1, len(parts) + 1))
            found += (".".join([*parts, name]) for name in names)
    return tuple(found)


PARAMETERS = {
    "import_module": ("name", "package"),
    "__import__": ("name", "globals", "locals", "fromlist", "level"),
}


def _imported_by_call(call: ast.Call) -> tuple[int, str, list[str]]:
    """The number of dots, module and names that `import_module` or `__import__` is called with; 0 for other calls."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = dict(zip(PARAMETERS.get(called, ()), call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg in PARAMETERS.get(called, ())}
    match given.get("name"):
        case ast.Constant(value=str(name)):
            level, names = getattr(given.get("level"), "value", None), getattr(given.get("fromlist"), "elts", [])
            dots = level if isinstance(level, int) else len(name) - len(name.lstrip("."))
            return dots, name.lstrip("."), [str(one.value) for one in names if isinstance(one, ast.Constant)]
        case (
            ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name(id="__package__")), ast.Constant(value=str(name))])
            | ast.BinOp(left=ast.Name(id="__package__"), right=ast.Constant(value=str(name)))
        ):
            return 1, name.removeprefix("."), []
    return 0, "", []


def absolute_imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The modules that a module imports by their full names, each with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno
        elif isinstance(node, ast.Call):
            level, module, _ = _imported_by_call(node)
            if module and not level:
                yield module, node.lineno


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


def failing_module(name: str, reason: str) -> Source:
    """A module to put in place of one that cannot be used: importing it raises ImportError with the reason."""
    return file_of(name), f"raise ImportError({reason!r})\n"
