"""Cuts the definitions with TODOs out of the reference's modules: what answer cells hold."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from foundation.assignment_file import Assignment

from .regions import Region, Source, first_line, parse_source
from .skeleton import Skeleton

EVERYWHERE = "import torch"
"""What every notebook imports."""


@dataclass(frozen=True)
class Definition:
    """A class or function at the top level of a module that holds solutions.

    Args:
        module: such as `attention`.
        name: such as `MultiHeadedAttention`.
        task: the first task of the assignment that has a TODO in it.
        solved: its text with markers and solutions; what only a solution imports is imported in the solution.
        open: its text in the skeleton.
        imports: what the rest of it needs, as statements of a notebook; siblings under the package's name.
    """

    module: str
    name: str
    task: str
    solved: str
    open: str
    imports: tuple[str, ...]


def find_definitions(skeleton: Skeleton, assignment: Assignment) -> list[Definition]:
    """All definitions with TODOs, in the order of the modules' texts."""
    order = [task.number for task in assignment.tasks]
    found = []
    for path, regions in skeleton.regions.items():
        source, stripped = skeleton.sources[path], parse_source(path, skeleton.files[path].decode("utf-8"))
        module = path.removesuffix(".py")
        imports, kept = (_imports_of(text, assignment.package) for text in (source, stripped))
        own = f"from {assignment.package}."
        dropped = {name: text for name, text in imports.items() if name not in kept and not text.startswith(own)}
        siblings = {name: f"{own}{module} import {name}" for name in _bound(source)}
        needed = {name: text for name, text in (imports | siblings).items() if name not in dropped}
        twins = {node.name: node for node in stripped.tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        for node in source.tree.body:
            first, last = first_line(node), node.end_lineno or 0
            inside = [region for region in regions if first <= region.begin <= last]
            if inside and isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                used, twin = _names(source, first, last) - {node.name}, twins[node.name]
                found.append(
                    Definition(
                        module=module,
                        name=node.name,
                        task=min((region.hint.number for region in inside), key=order.index),
                        solved=_solved(source, first, max(last, inside[-1].end), inside, dropped),
                        open="".join(stripped.lines[first_line(twin) - 1 : twin.end_lineno]).rstrip("\n"),
                        imports=tuple(text for name, text in needed.items() if name in used),
                    )
                )
    return found


def _solved(source: Source, first: int, last: int, regions: Sequence[Region], dropped: dict[str, str]) -> str:
    """The text up to the last marker; each solution begins with the imports that the skeleton dropped."""
    parts: list[str] = []
    for region in regions:
        parts += source.lines[first - 1 : region.begin]
        used = _names(source, region.begin, region.end)
        needed = [text for name, text in dropped.items() if name in used and text != EVERYWHERE]
        parts += [f"{region.indent}{text}\n" for text in needed]
        first = region.begin + 1
    return "".join([*parts, *source.lines[first - 1 : last]]).rstrip("\n")


def _imports_of(source: Source, package: str) -> dict[str, str]:
    """What a module imports at its top level, by the name that it gives it: the statement as a notebook writes it."""
    found = {}
    for node in source.tree.body:
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            shown = f"import {alias.name} as {alias.asname}" if alias.asname else f"import {alias.name}"
            if isinstance(node, ast.ImportFrom):
                shown = f"from {'.'.join(filter(None, (package if node.level else '', node.module)))} {shown}"
            found[alias.asname or alias.name.partition(".")[0]] = shown
    return found


def _bound(source: Source) -> Iterator[str]:
    """The names that a module defines at its top level."""
    for statement in source.tree.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))


def _names(source: Source, first: int, last: int) -> set[str]:
    """The names that are read between two lines, both included."""
    return {
        node.id
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and first <= node.lineno <= last
    }


def merge_imports(statements: Iterable[str], local: set[str]) -> list[str]:
    """One statement for each module, in order: whole modules, then names; those that are `local` are left out."""
    whole: set[str] = set()
    names: dict[str, set[str]] = {}
    for line in statements:
        origin, _, name = line.removeprefix("from ").partition(" import ")
        if not name:
            whole.add(line)
        elif name not in local:
            names.setdefault(origin, set()).add(name)
    return sorted(whole) + [f"from {origin} import {', '.join(sorted(names[origin]))}" for origin in sorted(names)]
