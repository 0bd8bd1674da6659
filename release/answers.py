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


@dataclass(frozen=True)
class Import:
    """One name that a module imports: the statement as a notebook writes it, and whether it is of the package."""

    statement: str
    is_own: bool


def find_definitions(skeleton: Skeleton, assignment: Assignment) -> list[Definition]:
    """All definitions with TODOs, in the order of the modules' texts."""
    order = [task.number for task in assignment.tasks]
    found = []
    for path, regions in skeleton.regions.items():
        source, stripped = skeleton.sources[path], parse_source(path, skeleton.files[path].decode("utf-8"))
        module = path.removesuffix(".py")
        imports, kept = imports_of(source, assignment.package), imports_of(stripped, assignment.package).keys()
        siblings = {
            name: f"from {assignment.package}.{module} import {name}"
            for statement in source.tree.body
            for name in _bound(statement)
        }
        twins = {node.name: node for node in stripped.tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        for node in source.tree.body:
            first, last = first_line(node), node.end_lineno or 0
            inside = [region for region in regions if first <= region.begin <= last]
            if not inside or not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                continue
            used = _names(source, first, last)
            from_outside = [
                one.statement for name, one in imports.items() if name in used and (name in kept or one.is_own)
            ]
            from_beside = [text for name, text in siblings.items() if name in used and name != node.name]
            dropped = {name: one.statement for name, one in imports.items() if name not in kept and not one.is_own}
            twin = twins[node.name]
            found.append(
                Definition(
                    module=module,
                    name=node.name,
                    task=min((region.hint.number for region in inside), key=order.index),
                    solved=_solved(source, first, max(last, inside[-1].end), inside, dropped),
                    open="".join(stripped.lines[first_line(twin) - 1 : twin.end_lineno]).rstrip("\n"),
                    imports=(*from_outside, *from_beside),
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


def imports_of(source: Source, package: str) -> dict[str, Import]:
    """What a module imports at its top level, by the name that it gives it."""
    found: dict[str, Import] = {}
    for node in source.tree.body:
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            shown = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            name = alias.asname or alias.name.partition(".")[0]
            if isinstance(node, ast.ImportFrom):
                origin = ".".join(filter(None, (package if node.level else "", node.module)))
                found[name] = Import(f"from {origin} import {shown}", node.level > 0)
            else:
                found[name] = Import(f"import {shown}", False)
    return found


def _bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top level defines."""
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
    """One statement for each module, in order: whole modules, then names; `local` names are left out.

    Args:
        statements: `import a` or `from a import b`, each of one name.
        local: names that the notebook defines itself.
    """
    whole: set[str] = set()
    names: dict[str, set[str]] = {}
    for line in statements:
        origin, _, name = line.removeprefix("from ").partition(" import ")
        if not name:
            whole.add(line)
        elif name not in local:
            names.setdefault(origin, set()).add(name)
    return sorted(whole) + [f"from {origin} import {', '.join(sorted(names[origin]))}" for origin in sorted(names)]
