"""Correct implementations that look different, which the tests must pass with every seed; samples of known versions.

The files `FOLDER/MODULE.py` and `FOLDER/MODULE_TOPIC.py` hold them in cells. The definitions of a cell replace those of
the same name in the reference's module, so that it holds only the differences. Cells of one name in files of several
modules make one variant. Some variants are made by rewriting the reference's text.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.course.assignment_code import Cell, read_cells
from autograder.course.catalogue import Fault, read_catalogue
from autograder.intake.sources import Sources
from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract
from foundation.command_line import UserError


class VariantError(UserError):
    """A variant cannot be made; the message has the place and the reason."""


@dataclass(frozen=True)
class Variant:
    """A correct implementation.

    Attributes:
        name: of its cells.
        difference: the comment below the first.
        sources: the whole submission.
        components: the components that differ from the reference.
        is_same_code: to Python it is the reference, or the reference with prints; more seeds would show nothing new.
    """

    name: str
    difference: str
    sources: Sources
    components: tuple[str, ...]
    is_same_code: bool = False

    @property
    def where(self) -> str:
        """Its components in Markdown."""
        if self.is_same_code:
            return "everywhere"
        return ", ".join(f"`{component.split('.')[1]}`" for component in self.components)


def with_tabs(text: str) -> str:
    """Indentation by tabs. Docstrings and continued lines change too, which Python ignores."""
    lines = text.split("\n")
    return "\n".join("\t" * ((len(line) - len(line.lstrip(" "))) // 4) + line.lstrip(" ") for line in lines)


def with_prints(text: str) -> str:
    """Every function prints that it was called."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            node.body = [ast.parse(f"print({node.name!r}, 'was called')").body[0], *body]
    return ast.unparse(ast.fix_missing_locations(tree))


REWRITTEN: dict[str, tuple[str, Callable[[str], str]]] = {
    "windows_newlines": ("lines end as on Windows", lambda text: text.replace("\n", "\r\n")),
    "tabs": ("indented by tabs", with_tabs),
    "prints": ("every function prints", with_prints),
    "no_annotations": (
        "neither comments nor layout are those of the skeleton",
        lambda text: ast.unparse(ast.parse(text)),
    ),
}


def read_variants(folder: Path, reference: Sources, contract: Contract) -> list[Variant]:
    """All variants, by name.

    Raises:
        VariantError: naming the file.
    """
    variants = []
    for name, (difference, rewrite) in REWRITTEN.items():
        sources = {
            module: (path, rewrite(text) if module in contract.modules else text)
            for module, (path, text) in reference.items()
        }
        variants.append(Variant(name, difference, sources, contract.components, is_same_code=True))
    cells: dict[str, list[Cell]] = {}
    for path in sorted(folder.glob("*.py")):
        for cell in read_cells(path):
            if cell.module not in contract.modules:
                raise VariantError(f"{path}: {cell.module} is not a module of the contract")
            cells.setdefault(cell.name, []).append(cell)
    for name, parts in cells.items():
        sources, components = dict(reference), []
        for part in parts:
            spliced, defined = splice(reference[part.module][1], part.text, part.path)
            sources[part.module] = (str(part.path), spliced)
            components += [f"{part.module}.{known}" for known in contract.modules[part.module] if known in defined]
        if not components:
            raise VariantError(f"{parts[0].path}: {name} defines none of the contract's components")
        variants.append(Variant(name, parts[0].what, sources, tuple(components)))
    return sorted(variants, key=lambda variant: variant.name)


def splice(text: str, other: str, path: Path) -> tuple[str, set[str]]:
    """A module in which the definitions of another replace its own, and the names of these definitions."""
    try:
        tree = ast.parse(other)
    except SyntaxError as error:
        raise VariantError(f"{path}:{error.lineno}: {error.msg}") from None
    defined = {name for node in tree.body for name in names_of(node)}
    lines, added = text.split("\n"), other.split("\n")
    own = ast.parse(text).body
    for node in reversed(own):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in defined:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            del lines[first - 1 : node.end_lineno]
    for node in reversed(tree.body):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":  # only a docstring may come before it
            has_docstring = bool(own) and isinstance(own[0], ast.Expr)
            del added[node.lineno - 1 : node.end_lineno]
            lines.insert(own[0].end_lineno or 0 if has_docstring else 0, ast.unparse(node))
    return "\n".join([*lines, *added]), defined


def names_of(node: ast.stmt) -> set[str]:
    """The names that a statement defines: of a function or a class, or of what is assigned."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def choose_faults(
    assignment: Assignment,
    catalogue: Path | None = None,
    component: str | None = None,
    text: str = "",
    every: int = 1,
    start: int = 0,
) -> list[Fault]:
    """The faults of a component, or of a task's number, whose id has this text; of these a sample.

    A sample has all conditional ones: the share of them that must be found is of the whole, and would fail by chance.
    """
    faults = read_catalogue(catalogue, assignment) + read_catalogue(catalogue, assignment, kind="conditional")
    names = [(fault, (fault.component, fault.component.split(".")[1], fault.task)) for fault in faults]
    faults = [fault for fault, known in names if component in (None, *known) and text in fault.id]
    sampled = [fault for fault in faults if fault.severity != "conditional"][start % every :: every]
    return [fault for fault in faults if fault.severity == "conditional" or fault in sampled]


def choose_variants(variants: list[Variant], component: str | None, text: str, every: int, start: int) -> list[Variant]:
    """The variants of a component whose name has this text; of these a sample."""
    if component:
        name = component.split(".")[-1]
        variants = [v for v in variants if any(known.split(".")[1] == name for known in v.components)]
    return [variant for variant in variants if text in variant.name][start % every :: every]
