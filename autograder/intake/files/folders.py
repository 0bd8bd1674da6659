"""A submission that is a folder. No link is followed at any level, not even one that appears while we read.

Only folders that may hold the assignment's files are listed: the submission's own, those in it, and the package's
folder in each of these; and folders beside the modules if a module imports from them.
"""

import errno
import os
import stat
from contextlib import ExitStack, suppress
from pathlib import Path

from foundation.opening_flags import opening_flags

from ..errors import IntakeError, RefusedError, quote
from ..size_limits import MAX_ENTRIES
from .path_checks import is_clutter, plain_path
from .tree import Tree, problem_of, read_file

FOLDER_FLAGS = opening_flags("O_DIRECTORY", "O_NOFOLLOW")


class Folder(Tree):
    """The files of a folder; see `tree.Tree`."""

    def __init__(self, path: Path, package: str) -> None:
        """Lists the folder.

        Args:
            path: of the folder; not a link.
            package: name of the folder that holds the assignment's modules in the release.

        Raises:
            RefusedError: for a link, or too many entries.
            IntakeError: where it cannot be listed.
        """
        super().__init__()
        self.path, self._package = path, package
        self._n_entries = 0
        self._folders: dict[str, str] = {}  # plain path -> as the system writes it
        self._listed: set[str] = set()
        self._deeper: list[str] = []
        for name in self._list(""):
            for inner in self._list(name):
                if inner.rpartition("/")[2] == package:
                    self._deeper += self._list(inner)
                else:
                    self._deeper.append(inner)

    def look_into(self, folder: str) -> None:
        """Lists one more folder; one that is not there, or is a link, has no files."""
        folder = self._folders.get(folder, folder)
        if folder not in self._listed:
            with suppress(IntakeError, RefusedError):
                self._list(folder)

    def look_deeper(self) -> None:
        """Lists the folders below those that were listed at first, and the package's folder in each."""
        for folder in self._deeper:
            self.look_into(folder)
            self.look_into(f"{folder}/{self._package}")

    def _read(self, handle: str, limit: int) -> bytes:
        parent, _, file = handle.rpartition("/")
        with ExitStack() as stack:
            try:
                return read_file(file, limit, self._open(parent, stack))
            except IntakeError:
                raise IntakeError(f"{self.path / handle}: it cannot be read") from None

    def _list(self, folder: str) -> list[str]:
        """Adds the files of a folder; returns the folders in it."""
        inner = []
        self._listed.add(folder)
        with ExitStack() as stack:
            try:
                entries = stack.enter_context(os.scandir(self._open(folder, stack)))
                for entry in entries:
                    self._n_entries += 1
                    if self._n_entries > MAX_ENTRIES:
                        raise RefusedError(
                            f"more than {MAX_ENTRIES:,} files and folders; hand in only what is asked for"
                        )
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    status = entry.stat(follow_symlinks=False)
                    if not stat.S_ISDIR(status.st_mode):
                        self.add(name, status.st_size, name, problem_of(status.st_mode))
                    elif not is_clutter(name):
                        self._folders[plain_path(name)[0]] = name
                        inner.append(name)
            except OSError as error:
                raise IntakeError(f"{self.path / folder}: {error.strerror or error}") from None
        return sorted(inner)

    def _open(self, folder: str, stack: ExitStack) -> int:
        """A descriptor of a folder in here, opened level by level."""
        try:
            descriptor = _open_folder(str(self.path), None, stack)
            for part in filter(None, folder.split("/")):
                descriptor = _open_folder(part, descriptor, stack)
        except OSError as error:
            raise IntakeError(f"{self.path / folder}: {error.strerror or error}") from None
        return descriptor


def _open_folder(name: str, parent: int | None, stack: ExitStack) -> int:
    try:
        descriptor = os.open(name, FOLDER_FLAGS, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise RefusedError(f"{quote(name)} is a link, not a folder; hand in the folder itself") from None
        raise
    stack.callback(os.close, descriptor)
    return descriptor
