"""What a download holds: submissions with the people whom the LMS names, and files that are not submissions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from foundation.command_line import UserError

from ...intake import ARCHIVES, LooseFiles

CLUTTER = {".DS_Store", ".git", ".ipynb_checkpoints", "__MACOSX", "__pycache__"}
UNREAD_ARCHIVES = (".rar", ".7z", ".tar", ".tar.bz2", ".tar.xz", ".gz")
"""Kinds that intake refuses, with a reason: somebody's work may be in them."""


@dataclass(frozen=True)
class Person:
    """A student or a group, as far as the download tells.

    Attributes:
        name: as the LMS writes it; "" where it gives none.
        ids: kind ("canvas", "moodle", "number", "login", "github", "email") -> value.
        is_plain: whether the LMS has left spaces, punctuation and capitals out of the name; others may then share it.
    """

    name: str
    ids: Mapping[str, str] = field(default_factory=dict)
    is_plain: bool = False


@dataclass(frozen=True, eq=False)
class HandedIn:
    """One submission.

    Attributes:
        entry: its name in the download, for people to find it; unique.
        owner: what the download calls those who handed it in; it stays when they hand in again.
        source: what intake reads: a folder, an archive, a notebook, or loose files that belong together.
        people: who handed it in; several for a group.
        is_late: what the LMS says; None where it does not say.
        submitted: when; None where the LMS does not say, or it cannot be read.
        unread_time: why the time cannot be read; "" where it can, or the LMS does not say.
        notes: what a person should know.
    """

    entry: str
    source: Path | LooseFiles
    people: tuple[Person, ...]
    owner: str
    is_late: bool | None = None
    submitted: datetime | None = None
    unread_time: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stray:
    """An entry of the download that is no submission: it is listed, never graded and never a zero."""

    entry: str  # its name in the download
    reason: str  # why it is none
    people: tuple[Person, ...] = ()  # whose it is, where the download tells: what a student has typed into the platform


@dataclass(frozen=True)
class Download:
    """A class's download."""

    layout: str  # the name of its layout, one of `recognition.LAYOUTS`
    folder: Path  # that holds the submissions; below the named one where an extra folder lies between
    submissions: tuple[HandedIn, ...]  # in order of their entries
    strays: tuple[Stray, ...]  # likewise


@dataclass(frozen=True)
class Listing:
    """A folder's entries, in order of names, without what systems and tools leave behind."""

    path: Path  # of the folder
    folders: tuple[str, ...]  # names
    files: tuple[str, ...]  # names
    others: tuple[Stray, ...]  # links, pipes and devices, and entries whose names begin with a dot or two underscores


def list_folder(path: Path) -> Listing:
    """Lists a folder.

    Raises:
        UserError: where it cannot be listed.
    """
    folders, files, others = [], [], []
    try:
        with os.scandir(path) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_symlink():
                    others.append(Stray(entry.name, "a link; hand in the files themselves"))
                elif entry.name.startswith((".", "__")):
                    if entry.name not in CLUTTER and not entry.name.startswith("._"):
                        others.append(Stray(entry.name, "hidden: its name begins with . or __"))
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
                else:
                    others.append(Stray(entry.name, "neither a file nor a folder"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; expected a folder with one entry per submission") from None
    return Listing(path, tuple(folders), tuple(files), tuple(others))


def peek(path: Path) -> Listing:
    """Lists a student's folder; one that cannot be listed seems empty, so that it stops nobody else."""
    try:
        return list_folder(path)
    except UserError:
        return Listing(path, (), (), ())


def holds_a_submission(name: str) -> bool:
    """Whether a file by its name holds somebody's work: an archive or a notebook."""
    return name.lower().endswith((*ARCHIVES, *UNREAD_ARCHIVES, ".ipynb"))
