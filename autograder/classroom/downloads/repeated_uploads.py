"""Loose files of one student become one submission; of repeated uploads of a file, the last counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...intake import UPLOADED_AGAIN, LooseFiles
from .listing import holds_a_submission


@dataclass(frozen=True)
class LooseFile:
    """A file of the download.

    Attributes:
        entry: its name in the download.
        name: what the student called it.
        order: later uploads have higher numbers.
    """

    entry: str
    name: str
    order: int = 0


def gather(name: str, folder: Path, files: Iterable[LooseFile]) -> tuple[Path | LooseFiles, tuple[str, ...]]:
    """Makes a submission of the files that one student handed in; intake gives their names back to numbered ones.

    Args:
        name: of the submission, for reports.
        folder: that holds the files.
        files: of one student.

    Returns:
        The submission, and notes on files that do not count.
    """
    chosen: dict[str, tuple[int, str]] = {}
    notes = []
    for file in files:
        if file.name in chosen:
            notes.append(UPLOADED_AGAIN.format(file.name))
        chosen[file.name] = max((file.order, file.entry), chosen.get(file.name, (file.order, file.entry)))
    members = {member: entry for member, (_, entry) in sorted(chosen.items())}
    return source_of(name, folder, members), tuple(dict.fromkeys(notes))


def source_of(name: str, folder: Path, members: Mapping[str, str]) -> Path | LooseFiles:
    """A single archive or notebook is the submission itself; anything else is read file by file."""
    if len(members) == 1:
        ((member, entry),) = members.items()
        if holds_a_submission(member):
            return folder / entry
    return LooseFiles(name, folder, tuple(members.items()))
