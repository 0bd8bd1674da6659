"""Names the TODO in each of nbgrader's stubs, so that notebooks say what the `.py` files say.

nbgrader replaces every solution by one and the same text; the hint above it tells which TODO it is.
"""

from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from ..skeleton.build import raise_statement
from ..skeleton.regions import find_hints
from ..skeleton.source import indent_of, parse_source

Resources = dict[str, Any]

STUB = "raise NotImplementedError()"


class NameStubs(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """A step of `nbgrader generate_assignment`, after its own `ClearSolutions`."""

    def preprocess_cell(self, cell: NotebookNode, resources: Resources, index: int) -> tuple[NotebookNode, Resources]:
        """Puts the task's number into the stubs of one cell."""
        if cell.cell_type == "code" and STUB in cell.source:
            cell.source = name_stubs(cell.source)
        return cell, resources


def name_stubs(text: str) -> str:
    """The text with `raise NotImplementedError("TODO 1.2")` below each hint."""
    hints, _ = find_hints(parse_source("the cell", text), ())  # which tasks there are was checked in the source
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        hint = hints.get(number - 1)
        if hint and line.strip() == STUB:
            lines.append(indent_of(line) + raise_statement(hint.number))
        else:
            lines.append(line)
    return "\n".join(lines)
