"""Merges a notebook that a student has worked in with its corrected release, cell by cell.

The release's cells have identities. Locked cells, such as tests, are the release's. In every other cell the student's
text and the release's news are merged line by line. Cells of the student's own stay behind the cell they stood behind;
one that repeats another's identity, as copying and splitting make it, is one of them.
"""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from .text_merge import merge_texts

Cell = dict[str, Any]
"""As the file has it."""


@dataclass(frozen=True)
class MergedNotebook:
    """The result: the file's content, and the cells in which both have changed the same lines."""

    content: bytes
    conflicts: tuple[str, ...]


class NotebookError(ValueError):
    """A notebook that cannot be read; the message says why."""


def merge_notebook(base: bytes, student: bytes, new: bytes) -> MergedNotebook:
    """The new notebook with the student's answers and own cells, and the outputs of cells that stay.

    Raises:
        NotebookError: where the student's is not a notebook, or holds what UTF-8 cannot say.
    """
    try:
        cells, conflicts = _merge_cells(*(json.loads(content)["cells"] for content in (base, student, new)))
        notebook = {**json.loads(new), "cells": cells}
        text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
        return MergedNotebook(f"{text}\n".encode(), tuple(conflicts))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise NotebookError(f"not a notebook ({type(error).__name__}: {error})") from None


def _merge_cells(base: list[Cell], student: list[Cell], new: list[Cell]) -> tuple[list[Cell], list[str]]:
    old = {_identity(cell): cell for cell in base}
    student = _told_apart(student)
    theirs = {_identity(cell): cell for cell in student}
    merged, conflicts = [], []
    for cell in new:
        identity = _identity(cell)
        written = theirs.get(identity)
        if written is None or (_source(written) != _source(cell) and _is_locked(cell)):
            merged.append(cell)
            continue
        result = merge_texts(_source(old.get(identity, cell)), _source(written), _source(cell))
        if result.conflicts:
            conflicts.append(str(identity))
        text = result.text if _source(written).endswith("\n") else result.text.removesuffix("\n")
        if text == _source(written):
            merged.append({**written, "metadata": cell.get("metadata", {})})
        else:  # its outputs are those of another text
            merged.append({**cell, "source": text})
    _insert_own(merged, student, old)
    return merged, conflicts


def _insert_own(merged: list[Cell], student: list[Cell], old: Mapping[Hashable, Cell]) -> None:
    """Puts the student's own cells, and answers to questions that are gone, behind the cell that they followed."""
    present = {_identity(cell) for cell in merged}
    before: Hashable = None
    for cell in student:
        identity = _identity(cell)
        is_own = identity not in old or (not _is_locked(cell) and _source(cell) != _source(old[identity]))
        if identity not in present and is_own:
            places = [index for index, other in enumerate(merged) if _identity(other) == before]
            merged.insert(places[0] + 1 if places else 0, _unlocked(cell))
            present.add(identity)
        if identity in present:
            before = identity


def _told_apart(cells: list[Cell]) -> list[Cell]:
    """The cells, each with an identity of its own: the first keeps it, a repetition becomes the student's own cell."""
    taken = {cell.get("id") for cell in cells}
    free_ids = (name for name in map("own-{}".format, count(1)) if name not in taken)
    seen: set[Hashable] = set()
    result = []
    for cell in cells:
        identity = _identity(cell)
        result.append({**_unlocked(cell), "id": next(free_ids)} if identity in seen else cell)
        seen.add(identity)
    return result


def _unlocked(cell: Cell) -> Cell:
    """The cell without nbgrader's metadata: it is no longer graded."""
    metadata = {key: value for key, value in cell.get("metadata", {}).items() if key != "nbgrader"}
    return {**cell, "metadata": metadata}


def _identity(cell: Cell) -> Hashable:
    """The id that nbgrader gives, which survives copying and old formats; else the cell's own; else its content."""
    graded = cell.get("metadata", {}).get("nbgrader", {})
    identity: Hashable = graded.get("grade_id") or cell.get("id") or _source(cell)
    return identity


def _source(cell: Cell) -> str:
    return "".join(cell.get("source", ""))


def _is_locked(cell: Cell) -> bool:
    return bool(cell.get("metadata", {}).get("nbgrader", {}).get("locked"))
