"""Turns the cells of all notebooks of a folder, and those run in this kernel since, into the assignment's modules.

Cells are distributed over modules exactly as in grading, so that the tested code is the graded code.
"""

from collections.abc import Sequence
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.sources import Sources

from ...intake.errors import RefusedError
from ...intake.modules import Selection
from ...intake.notebooks.cells import Cell, read_notebook
from ...intake.notebooks.distribution import Distribution, describe_unreadable
from ...intake.notebooks.statements import DEFINITIONS, read_code
from ..errors import UnreadableNotebookError

HERE = "this notebook"


def assemble(
    folder: Path, history: Sequence[str], skeleton: Sources, assignment: Assignment
) -> tuple[Sources, dict[str, list[str]], list[str]]:
    """All modules of the package, answers in place of the skeleton's TODOs.

    Args:
        folder: with the notebooks as they were saved.
        history: cells that were run in this kernel, in order; they take precedence over saved ones.
        skeleton: the modules that were handed out.
        assignment: its contract, and the name that the package is imported by.

    Returns:
        The modules; for each module with answers the cell and line that each of its lines comes from; and a note for
        each cell that cannot be read.

    Raises:
        UnreadableNotebookError: for a file that is not a notebook.
    """
    live = [Cell(HERE, number, text, is_answer=True) for number, text in enumerate(history) if text.strip()]
    live = _latest(live)
    defined: set[str] = set().union(*map(_definitions, live))
    saved = [cell for cell in saved_cells(folder) if defined.isdisjoint(_definitions(cell))]
    selection = Selection({})
    distribution = Distribution([*saved, *live], skeleton, assignment)
    origins = distribution.fill(selection, "your notebooks")
    # A cell that was run and defines nothing, such as a misspelled experiment, stays in the history for good.
    counting = {
        cell: why for cell, why in distribution.unreadable.items() if cell.notebook != HERE or _definitions(cell)
    }
    return {**skeleton, **selection.sources}, origins, describe_unreadable(counting)


def saved_cells(folder: Path) -> list[Cell]:
    """The code cells of all notebooks of a folder, in the order of their names."""
    cells: list[Cell] = []
    for path in sorted(folder.glob("*.ipynb")):
        try:
            cells += read_notebook(path.read_bytes(), path.name)
        except RefusedError as error:
            raise UnreadableNotebookError(f"{path.name}: {error}") from None
    return cells


def _latest(cells: list[Cell]) -> list[Cell]:
    """The cells without those whose definitions were all replaced by later cells, as in the kernel."""
    kept: list[Cell] = []
    later: set[str] = set()
    for cell in reversed(cells):
        names = _definitions(cell)
        if not names or names - later:
            kept.append(cell)
        later |= names
    return kept[::-1]


def _definitions(cell: Cell) -> set[str]:
    """The classes and functions that a cell defines at its top level."""
    found = read_code(cell).statements
    return {name for one in found if one.node is None or isinstance(one.node, DEFINITIONS) for name in one.binds}
