"""Merges what a student has worked in with its corrected release: a text line by line, a notebook cell by cell.

A TODO is a hint and, below it, one statement that raises its number. Students replace the statement and keep the hint,
and a corrected release often changes the hint. So hints are renewed first, in the old release and in the student's
text alike; then a change of the hint does not touch a change of the statement below it.

The release's cells have identities. Locked cells, such as tests, are the release's. Cells of the student's own stay
behind the cell that they stood behind; one that repeats another's identity, as copying and splitting make it, is one of
them.
"""

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import count
from typing import Any

Cell = dict[str, Any]
"""As the file has it."""

_HINT = re.compile(
    r"^[ \t]*# TODO (?P<number>\S+): .*\n(?:[ \t]*#.*\n)*"
    r"(?=[ \t]*raise NotImplementedError\(\"TODO (?P=number)\"\)\n)",
    re.MULTILINE,
)
"""The comment of a TODO, above the statement that raises."""


class NotebookError(ValueError):
    """A notebook that cannot be read; the message says why."""


def merge_texts(base: str, student: str, new: str) -> tuple[str, list[int]]:
    """Puts the release's changes into the student's text; where both cannot have their way, the student's lines stay.

    Args:
        base: what was handed out.
        student: the student's version; it need not be valid Python.
        new: the corrected release.

    Returns:
        The text, and the lines (from 1) where both have changed the same.
    """
    newline = "\r\n" if "\r\n" in student else "\n"
    base, student, new = (_with_whole_lines(text) for text in (base, student, new))
    renewed = hints_of(new)
    for key, hint in hints_of(base).items():
        if key in renewed and (hint in student or renewed[key] in student):
            base, student = (text.replace(hint, renewed[key], 1) for text in (base, student))
    lines: list[str] = []
    conflicts: list[int] = []
    for merged, is_conflict in merge_lines(*(text.splitlines(keepends=True) for text in (base, student, new))):
        if is_conflict:
            conflicts.append(len(lines) + 1)
        lines += merged
    return "".join(lines).replace("\n", newline), conflicts


def hints_of(text: str) -> dict[tuple[str, int], str]:
    """The hints of a skeleton's TODOs, by the task's number and which of its TODOs in the file this is."""
    seen: Counter[str] = Counter()
    hints = {}
    for match in _HINT.finditer(text):
        seen[match["number"]] += 1
        hints[match["number"], seen[match["number"]]] = match[0]
    return hints


def merge_lines(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[list[str], bool]]:
    """The stretches of the result, each with whether both sides have changed it, and not alike: then it is ours."""
    in_ours, in_theirs = _partners(base, ours), _partners(base, theirs)
    shared = [(index, in_ours[index], in_theirs[index]) for index in in_ours if index in in_theirs]
    done = (0, 0, 0)
    for here in [*shared, (len(base), len(ours), len(theirs))]:  # lines that all three have, in order, and the end
        old, mine, other = base[done[0] : here[0]], ours[done[1] : here[1]], theirs[done[2] : here[2]]
        if mine in (old, other):
            yield other, False
        elif mine or other != old:
            yield mine, other != old
        yield base[here[0] : here[0] + 1], False
        done = (here[0] + 1, here[1] + 1, here[2] + 1)


def _partners(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    """Index in the base -> index of the same line in the other sequence."""
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + shift: block.b + shift for block in blocks for shift in range(block.size)}


def _with_whole_lines(text: str) -> str:
    """The text with line feeds alone, one at its end too."""
    text = text.replace("\r\n", "\n")
    return f"{text}\n" if text and not text.endswith("\n") else text


def merge_notebook(base: bytes, student: bytes, new: bytes) -> tuple[bytes, list[str]]:
    """The new notebook with the student's answers and own cells, and the outputs of cells that stay.

    Returns:
        The notebook, and the cells in which both have changed the same lines.

    Raises:
        NotebookError: where the student's is not a notebook, or holds what UTF-8 cannot say.
    """
    try:
        cells, conflicts = _merge_cells(*(json.loads(content)["cells"] for content in (base, student, new)))
        notebook = {**json.loads(new), "cells": cells}
        text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
        return f"{text}\n".encode(), conflicts
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
        text, places = merge_texts(_source(old.get(identity, cell)), _source(written), _source(cell))
        conflicts += [str(identity)] if places else []
        text = text if _source(written).endswith("\n") else text.removesuffix("\n")
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
