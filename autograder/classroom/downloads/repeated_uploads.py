"""Loose files of one student become one submission; of repeated uploads of a file, the last counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from foundation.contract import Contract

from ...intake import TRANSLATIONS, LooseFiles
from .listing import holds_a_submission

REPEATED = re.compile(r"(?P<stem>.+)-(?P<number>[1-9]\d{0,3})(?P<ending>\.[A-Za-z.]+)", re.DOTALL)


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


def gather(
    name: str, folder: Path, files: Iterable[LooseFile], contract: Contract
) -> tuple[Path | LooseFiles, tuple[str, ...]]:
    """Makes a submission of the files that one student handed in.

    A platform that keeps earlier uploads appends a number to a name that it has seen before: `layers-1.py` is the
    second upload of `layers.py`. Of a file that the assignment asks for, the last upload counts.

    Args:
        name: of the submission, for reports.
        folder: that holds the files.
        files: of one student.
        contract: names the files that the assignment asks for.

    Returns:
        The submission, and notes on files that do not count.
    """
    chosen: dict[str, tuple[int, int, str]] = {}
    notes = []
    for file in files:
        member, number = plain_name(file.name, contract)
        upload = (number, file.order, file.entry)
        if member in chosen:
            notes.append(f"{member} was uploaded more than once; the last upload counts")
        chosen[member] = max(upload, chosen.get(member, upload))
    members = {member: entry for member, (_, _, entry) in sorted(chosen.items())}
    return source_of(name, folder, members), tuple(dict.fromkeys(notes))


def plain_name(name: str, contract: Contract) -> tuple[str, int]:
    """The name without the platform's number, and that number, for files that the assignment asks for."""
    if (found := REPEATED.fullmatch(name)) and found["stem"] + found["ending"] in (*contract.files, TRANSLATIONS):
        return found["stem"] + found["ending"], int(found["number"])
    return name, 0


def source_of(name: str, folder: Path, members: Mapping[str, str]) -> Path | LooseFiles:
    """A single archive or notebook is the submission itself; anything else is read file by file."""
    if len(members) == 1:
        ((member, entry),) = members.items()
        if holds_a_submission(member):
            return folder / entry
    return LooseFiles(name, folder, tuple(members.items()))
