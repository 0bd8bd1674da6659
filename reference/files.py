"""Files that are written in one piece or not at all.

Whoever is interrupted, or finds the disk full, keeps the old file and no half of a new one.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_one_piece(path: Path | str) -> Iterator[Path]:
    """Gives a path to write to, whose file takes the place of `path` at the end; after an error it is deleted.

        with in_one_piece("translations.txt") as unfinished:
            unfinished.write_text(…)

    It is made at once, with its folder: a path that cannot be written is known before the work inside begins.
    A link stays one: what it points to is replaced. A device or a pipe is written to as it stands.

    Raises:
        OSError: where the file cannot be made or written.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if path.exists() and not path.is_file():
        yield path
        return
    target = Path(os.path.realpath(path))
    make_folder(target.parent)
    unfinished = target.with_name(f".unfinished-{path.name}")  # the same ending: it may decide on the format
    unfinished.touch()
    try:
        yield unfinished
        unfinished.replace(target)
    except BaseException as error:
        unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # as where the disk is full
            error.filename = str(path)
        raise


def make_folder(path: Path) -> None:
    """Makes a folder that is not there yet, with those above it, and tries whether it takes a file.

    Raises:
        OSError: where it cannot be made, is a file, or takes none.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    try:
        tempfile.TemporaryFile(dir=path).close()  # tried, since what permissions say is not all
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
