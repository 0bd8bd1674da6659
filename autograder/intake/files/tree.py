"""What folders, archives and uploads have in common: paths with sizes, and a bounded way to read one file."""

import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Any

from foundation.opening_flags import opening_flags

from ..errors import IntakeError, RefusedError
from ..size_limits import MAX_KEPT_BYTES, MAX_NAME_CHARACTERS, limit_of
from .path_checks import earlier_names, plain_path

UPLOADED_AGAIN = "{} was uploaded more than once; the last upload counts"


class Tree:
    """The files of a submission. What is never read need not be safe: it only has to be skipped.

    Attributes:
        sizes: path within the submission ("student/layers.py") -> bytes.
        odd: path -> why reading it is refused: a link, a name that leads elsewhere, two files with one name.
        renamed: path -> the name that the file bears, where that is another one.
        was_read: paths of all files that something was made of.
        superseded: paths of which several uploads were there.
        last_counts: whether a platform has put numbers behind names, so that the highest is the last upload.
    """

    last_counts = False

    def __init__(self) -> None:
        """Begins without any file."""
        self.sizes: dict[str, int] = {}
        self.odd: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        self.was_read: set[str] = set()
        self.superseded: list[str] = []
        self._handles: dict[str, Any] = {}
        self._copies: dict[str, list[tuple[tuple[int, ...], bool, str]]] = {}
        self._n_readable = 0

    def add(self, name: str, size: int, handle: Any, problem: str = "") -> str:
        """Adds a file; returns its path.

        Args:
            name: as the folder or the archive has it.
            size: in bytes.
            handle: by which `_read` finds it.
            problem: why it is not read, or "".

        Raises:
            RefusedError: where all that may be read is too large together.
        """
        path, leads_elsewhere = plain_path(name)
        if not path:
            return path
        problem = problem or leads_elsewhere
        if path in self.sizes:
            problem = "it is there twice; keep one"
        if problem:
            self.odd[path] = problem
        elif size <= limit_of_copy(path):
            self._n_readable += size
            if self._n_readable > MAX_KEPT_BYTES:
                what = f"its Python files, notebooks and translations have more than {MAX_KEPT_BYTES:,} bytes"
                raise RefusedError(f"{what}; hand in only what is asked for")
        if path != name.replace("\\", "/").removeprefix("./"):
            self.renamed[path] = name[:MAX_NAME_CHARACTERS]
        self.sizes[path], self._handles[path] = size, handle
        for earlier, numbers, are_uploads in earlier_names(path):
            self._copies.setdefault(earlier, []).append((numbers, are_uploads, path))
        return path

    def find(self, path: str) -> bool:
        """Whether there is such a file, be it under the name that an upload gave it: then it gets its own name back."""
        copies = [copy for copy in self._copies.get(path, ()) if copy[2] in self.sizes]
        if path in self.sizes:
            copies = [copy for copy in copies if copy[1]] if self.last_counts else []
            if not copies:
                return True
            self.superseded.append(path)
        elif not copies:
            return False
        *others, (_, _, last) = sorted(copies)
        self.odd.pop(path, None)
        if last in self.odd:
            self.odd[path] = self.odd.pop(last)
        self.sizes[path], self._handles[path] = self.sizes.pop(last), self._handles.pop(last)
        self.renamed[path] = self.renamed.pop(last, last)
        for _, _, other in others if self.last_counts else ():
            self.sizes.pop(other, None)
        return True

    def give_names_back(self, files: Collection[str]) -> None:
        """Does so for all files of these names, and where several uploads of a notebook or an archive are there."""
        for path in list(self._copies):
            is_repeated = self.last_counts and path in self.sizes and not path.endswith(".py")
            if path.rpartition("/")[2] in files or is_repeated:
                self.find(path)

    def look_into(self, folder: str) -> None:
        """Completes `sizes` with the files of a folder, if it is there and has not been listed yet."""

    def look_deeper(self) -> None:
        """Completes `sizes` by one level of folders too deep to count, so that a message can name what is there."""

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a file.

        Args:
            path: one of `sizes`.
            limit: in bytes; None = that of files of its name.

        Raises:
            RefusedError: where it is larger or cannot be read; the reason does not name the file.
        """
        self.was_read.add(path)
        if path in self.odd:
            raise RefusedError(self.odd[path])
        limit = limit or limit_of(path)
        if self.sizes[path] > limit:
            raise RefusedError(too_large(self.sizes[path], limit))
        return self._read(self._handles[path], limit)

    def _read(self, handle: Any, limit: int) -> bytes:
        raise NotImplementedError


def limit_of_copy(path: str) -> int:
    """The most bytes that are read of a file which may get another name back."""
    return max(map(limit_of, (path, *(earlier for earlier, _, _ in earlier_names(path)))))


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


def problem_of(mode: int) -> str:
    """Why an entry of a folder or an archive is not read; "" for an ordinary file."""
    return "" if stat.S_ISREG(mode) else f"it is {kind_of(mode)}; hand in ordinary files"


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
