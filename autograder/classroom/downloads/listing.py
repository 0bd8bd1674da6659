"""The entries of a folder, by kind; no link is followed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ...intake import ARCHIVES
from .handed_in import DownloadError, Stray

CLUTTER = {".DS_Store", ".git", ".ipynb_checkpoints", "__MACOSX", "__pycache__"}
UNREAD_ARCHIVES = (".rar", ".7z", ".tar", ".tar.bz2", ".tar.xz", ".gz")
"""Kinds that intake refuses, with a reason: somebody's work may be in them."""


@dataclass(frozen=True)
class Listing:
    """A folder's entries, in order of names, without what systems and tools leave behind.

    Attributes:
        path: of the folder.
        folders: names.
        files: names.
        others: links, pipes and devices, and entries whose names begin with a dot or two underscores.
    """

    path: Path
    folders: tuple[str, ...]
    files: tuple[str, ...]
    others: tuple[Stray, ...]


def list_folder(path: Path) -> Listing:
    """Lists a folder.

    Raises:
        DownloadError: where it cannot be listed.
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
        raise DownloadError(f"{path}: {error.strerror}; expected a folder with one entry per submission") from None
    return Listing(path, tuple(folders), tuple(files), tuple(others))


def peek(path: Path) -> Listing:
    """Lists a student's folder; one that cannot be listed seems empty, so that it stops nobody else."""
    try:
        return list_folder(path)
    except DownloadError:
        return Listing(path, (), (), ())


def holds_a_submission(name: str) -> bool:
    """Whether a file by its name holds somebody's work: an archive or a notebook."""
    return name.lower().endswith((*ARCHIVES, *UNREAD_ARCHIVES, ".ipynb"))
