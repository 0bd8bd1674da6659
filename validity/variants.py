"""Correct implementations that look different, which the tests must pass with every seed; samples of known versions.

The files in `proof/variants/` of an assignment hold them in cells. The definitions of a cell replace those of the
same name in the reference's module, so that it holds only the differences. Cells of one name in files of several
modules make one variant.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

from autograder.course.assignment_code import Cell, read_cells
from autograder.course.catalogue import Fault, faults_of
from autograder.intake.sources import Sources
from foundation.assignment_file import Assignment
from foundation.command_line import UserError


@dataclass(frozen=True)
class Variant:
    """A correct implementation."""

    name: str  # of its cells
    difference: str  # the comment below the first
    sources: Sources
    components: tuple[str, ...]  # that differ from the reference


def read_variants(assignment: Assignment, reference: Sources) -> list[Variant]:
    """All variants of an assignment, by name. Raises: UserError, naming the file."""
    variants, contract = [], assignment.contract
    cells: dict[str, list[Cell]] = {}
    for path in sorted((assignment.folder / "proof" / "variants").glob("*.py")):
        for cell in read_cells(path):
            if cell.module not in contract.modules:
                raise UserError(f"{path}: {cell.module} is not a module of the contract")
            cells.setdefault(cell.name, []).append(cell)
    for name, parts in cells.items():
        sources, components = dict(reference), []
        for part in parts:
            spliced, defined = splice(reference[part.module][1], part.text, part.path)
            sources[part.module] = (str(part.path), spliced)
            components += [f"{part.module}.{known}" for known in contract.modules[part.module] if known in defined]
        if not components:
            raise UserError(f"{parts[0].path}: {name} defines none of the contract's components")
        variants.append(Variant(name, parts[0].what, sources, tuple(components)))
    return sorted(variants, key=lambda variant: variant.name)


def splice(text: str, other: str, path: Path) -> tuple[str, set[str]]:
    """A module with the definitions of another below its own, which they replace; the names of these definitions."""
    try:
        definitions = ast.parse(other).body
    except SyntaxError as error:
        raise UserError(f"{path}:{error.lineno}: {error.msg}") from None
    defined = {node.name for node in definitions if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return f"{text}\n{other}", defined


def choose_faults(
    assignment: Assignment, component: str | None = None, text: str = "", every: int = 1, start: int = 0
) -> list[Fault]:
    """The faults of a component, or of a task's number, whose id has this text; of these a sample."""
    faults = faults_of(assignment) + faults_of(assignment, "conditional")
    names = [(fault, (fault.component, fault.component.split(".")[1], fault.task)) for fault in faults]
    faults = [fault for fault, known in names if component in (None, *known) and text in fault.id]
    return faults[start % every :: every]


def choose_variants(
    assignment: Assignment, reference: Sources, component: str | None, text: str, every: int = 1, start: int = 0
) -> list[Variant]:
    """The variants of a component whose name has this text; of these a sample."""
    variants = [variant for variant in read_variants(assignment, reference) if text in variant.name]
    if component:
        name = component.split(".")[-1]
        variants = [v for v in variants if any(known.split(".")[1] == name for known in v.components)]
    return variants[start % every :: every]
