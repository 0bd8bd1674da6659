"""The cells of all notebooks of a folder, and what was run in this kernel since, as the assignment's modules.

The same distribution of cells to modules that grading uses, so that what is tested is what is graded.
"""

from collections.abc import Sequence
from pathlib import Path

from ...intake.distribution import Distribution
from ...intake.errors import RefusedError
from ...intake.modules import Selection, Sources
from ...intake.notebooks import Cell, read_notebook
from ...intake.statements import DEFINITIONS, statements_of
from ..errors import UnreadableNotebookError

HERE = "this notebook"


def assemble(
    folder: Path, history: Sequence[str], skeleton: Sources, package: str
) -> tuple[Sources, dict[str, list[str]]]:
    """All modules of the package, answers in place of the skeleton's TODOs.

    Args:
        folder: with the notebooks as they were saved.
        history: what was run in this kernel, in order; it counts more than what was saved.
        skeleton: the modules that were handed out.
        package: the name they are imported by.

    Returns:
        Module name -> path for messages, text; and for each module with answers the cell and line of each of its lines.

    Raises:
        UnreadableNotebookError: for a file that is no notebook.
    """
    live = [Cell(HERE, number, text, is_answer=True) for number, text in enumerate(history) if text.strip()]
    live = _latest(live)
    defined = set().union(*map(_definitions, live))
    saved = [cell for cell in saved_cells(folder) if defined.isdisjoint(_definitions(cell))]
    selection = Selection({})
    origins = Distribution([*saved, *live], skeleton, package).fill(selection, "your notebooks")
    return {**skeleton, **selection.sources}, origins


def saved_cells(folder: Path) -> list[Cell]:
    """The code cells of all notebooks of a folder, in the order of their names."""
    cells = []
    for path in sorted(folder.glob("*.ipynb")):
        try:
            cells += read_notebook(path.read_bytes(), path.name)
        except RefusedError as error:
            raise UnreadableNotebookError(f"{path.name}: {error}") from None
    return cells


def _latest(cells: list[Cell]) -> list[Cell]:
    """Without the cells whose definitions were all made anew later: what the kernel has forgotten too."""
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
    found = statements_of(cell, [])
    return {name for one in found if one.node is None or isinstance(one.node, DEFINITIONS) for name in one.binds}
