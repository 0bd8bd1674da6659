"""The interface of folders and archives: paths with sizes, and a bounded way to read one file."""

import os
import stat
from pathlib import Path
from typing import Protocol

from foundation.opening_flags import opening_flags

from ..errors import IntakeError, RefusedError


class Tree(Protocol):
    """A folder or an archive, as the rest of intake sees it.

    Attributes:
        sizes: path within the submission ("student/layers.py") -> bytes, of ordinary files only.
    """

    sizes: dict[str, int]

    def look_into(self, folder: str) -> None:
        """Completes `sizes` with the files of a folder, if it is there and has not been listed yet."""
        ...

    def look_deeper(self) -> None:
        """Completes `sizes` by one level of folders too deep to count, so that a message can name what is there."""
        ...

    def read(self, name: str) -> bytes:
        """The content of a file of at most `size_limits.limit_of(name)` bytes.

        Raises:
            RefusedError: where it is larger or cannot be read; the reason does not name the file.
        """
        ...


def read_file(path: str | Path, limit: int, folder: int | None = None) -> bytes:
    """Reads an ordinary file; follows no link, waits for no pipe, keeps no byte above the limit.

    Args:
        path: of the file; a bare name where `folder` is given.
        limit: in bytes.
        folder: descriptor of the folder that holds it.

    Raises:
        RefusedError: where it is not an ordinary file, or larger.
        IntakeError: where the system does not let us read it.
    """
    try:
        descriptor = os.open(path, opening_flags("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY"), dir_fd=folder)
    except OSError as error:
        raise _unreadable(path, folder, error) from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RefusedError(f"it is {kind_of(status.st_mode)}, not an ordinary file")
        if status.st_size <= limit:
            content = file.read(limit + 1)
            if len(content) <= limit:
                return content
        raise RefusedError(too_large(status.st_size, limit))


def too_large(size: int, limit: int) -> str:
    """The reason why a file is not read."""
    return f"it has {size:,} bytes; at most {limit:,} are read"


def kind_of(mode: int) -> str:
    """The kind of an entry that is not an ordinary file, in words."""
    kinds = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a named pipe"))
    devices = ((stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISSOCK, "a socket"))
    return next((words for test, words in kinds + devices if test(mode)), "not an ordinary file")


def _unreadable(path: str | Path, folder: int | None, error: OSError) -> Exception:
    try:
        mode = os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        mode = 0
    if mode and not stat.S_ISREG(mode):
        return RefusedError(f"it is {kind_of(mode)}, not an ordinary file")
    return IntakeError(f"{path}: {error.strerror or error}")
