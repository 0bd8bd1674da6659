"""Files that are written in one piece or not at all, and places that are looked at before the work begins."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .printable_text import printable


class OutputError(ValueError):
    """A place where nothing can be written; the message says why."""


@contextmanager
def in_one_piece(path: Path) -> Iterator[Path]:
    """Gives a path beside `path` to write to. It takes its place once the block has ended; else nothing of it stays.

    Folders are made where they are missing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Writes a file in one piece or not at all; text as UTF-8, its line ends as they are."""
    with in_one_piece(path) as unfinished:
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))


def check_file(path: Path) -> None:
    """Raises OutputError where no file can be written under that name."""
    if path.is_dir():
        raise OutputError(f"{printable(str(path))}: is a folder; expected the name of a file")
    _check_above(path, path.parent)


def check_folder(path: Path) -> None:
    """Raises OutputError where there is no folder of that name and none can be made, or none can be written to."""
    _check_above(path, path)


def _check_above(path: Path, folder: Path) -> None:
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        what = "" if folder == path else f"{printable(str(folder))} "
        raise OutputError(f"{printable(str(path))}: {what}is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{printable(str(path))}: {printable(str(folder))}/ cannot be written to")
