"""Cuts the definitions with TODOs out of the reference's modules: what answer cells hold."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from foundation.assignment_file import Assignment

from ..skeleton.build import Skeleton
from ..skeleton.regions import Region
from ..skeleton.source import Source, parse_source

Import = ast.Import | ast.ImportFrom

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
        source = skeleton.sources[path]
        stripped = parse_source(path, skeleton.files[path].decode("utf-8"))
        for node in _definitions(source):
            inside = [region for region in regions if _first_line(node) <= region.begin <= (node.end_lineno or 0)]
            if inside:
                twin = next(other for other in _definitions(stripped) if other.name == node.name)
                found.append(
                    Definition(
                        module=path.removesuffix(".py"),
                        name=node.name,
                        task=min((region.hint.number for region in inside), key=order.index),
                        solved=_solved(source, stripped, node, inside),
                        open=_text(stripped.lines, _first_line(twin), twin.end_lineno or 0),
                        imports=tuple(_imports(source, stripped, node, path, assignment.package)),
                    )
                )
    return found


def _definitions(source: Source) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    return (node for node in source.tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))


def _first_line(node: ast.FunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _text(lines: Sequence[str], first: int, last: int) -> str:
    return "".join(lines[first - 1 : last]).rstrip("\n")


def _solved(source: Source, stripped: Source, node: ast.FunctionDef | ast.ClassDef, regions: list[Region]) -> str:
    """The text up to the last marker; each solution begins with the imports that the skeleton dropped."""
    last = max(node.end_lineno or 0, *(region.end for region in regions))
    kept = {name for _, name in _imported(stripped)}
    dropped = [(statement, name) for statement, name in _imported(source) if name not in kept]
    parts: list[str] = []
    position = _first_line(node)
    for region in regions:
        parts += source.lines[position - 1 : region.begin]
        used = _names(source, region.begin, region.end)
        parts += [
            f"{region.indent}{text}\n"
            for statement, name in dropped
            if name in used and not _is_relative(statement) and (text := _as_statement(statement, name)) != EVERYWHERE
        ]
        position = region.begin + 1
    return "".join([*parts, *source.lines[position - 1 : last]]).rstrip("\n")


def _imports(
    source: Source, stripped: Source, node: ast.FunctionDef | ast.ClassDef, path: str, package: str
) -> Iterator[str]:
    """Statements that give a notebook what the definition finds in its module."""
    used = _names(source, _first_line(node), node.end_lineno or 0)
    kept = {name for _, name in _imported(stripped)}
    for statement, name in _imported(source):
        if name in used and (name in kept or _is_relative(statement)):
            yield _as_statement(statement, name, package)
    for other in source.tree.body:
        for name in _bound(other) & used - {node.name}:
            yield f"from {package}.{path.removesuffix('.py')} import {name}"


def _imported(source: Source) -> Iterator[tuple[Import, str]]:
    for statement in source.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                yield statement, alias.asname or alias.name.partition(".")[0]


def _is_relative(statement: Import) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.level > 0


def _as_statement(statement: Import, name: str, package: str = "") -> str:
    """The import of one name; a relative one as seen from outside the package."""
    alias = next(alias for alias in statement.names if (alias.asname or alias.name.partition(".")[0]) == name)
    shown = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    if isinstance(statement, ast.Import):
        return f"import {shown}"
    origin = ".".join(filter(None, (package, statement.module))) if statement.level else statement.module
    return f"from {origin} import {shown}"


def _bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return set()


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
    whole = sorted({line for line in statements if line.startswith("import ")})
    names: dict[str, set[str]] = {}
    for line in statements:
        if line.startswith("from "):
            origin, _, name = line.removeprefix("from ").partition(" import ")
            if name not in local:
                names.setdefault(origin, set()).add(name)
    return whole + [f"from {origin} import {', '.join(sorted(names[origin]))}" for origin in sorted(names)]
