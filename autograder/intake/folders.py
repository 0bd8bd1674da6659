"""A submission that is a folder. No link is followed at any level, also not where one is put in while we look.

Only the levels are listed in which the assignment's files may lie: the folder, those in it, and the package's folder
in each of these.
"""

import errno
import os
import stat
from contextlib import ExitStack
from pathlib import Path

from .errors import IntakeError, RefusedError, quote
from .limits import MAX_LISTED, limit_of
from .names import is_clutter
from .tree import kind_of, read_file

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Folder:
    """Its files, by plain name; see `tree.Tree`.

    Attributes:
        sizes: plain name -> bytes.
        others: plain name -> what it is, for entries that are neither files nor folders.
    """

    def __init__(self, path: Path, package: str) -> None:
        """Lists what there is.

        Args:
            path: of the folder; not a link.
            package: name of the folder that the assignment's modules lie in at home.

        Raises:
            RefusedError: for a link, or too many entries.
            IntakeError: where it cannot be listed.
        """
        self.path = path
        self.sizes: dict[str, int] = {}
        self.others: dict[str, str] = {}
        self._n_entries = 0
        for name in self._list(""):
            for inner in self._list(name):
                if inner.rpartition("/")[2] == package:
                    self._list(inner)

    def read(self, name: str, limit: int | None = None) -> bytes:
        """The content of a file, of at most `limit` bytes; see `tree.Tree`."""
        parent, _, file = name.rpartition("/")
        with ExitStack() as stack:
            try:
                return read_file(file, limit or limit_of(name), self._open(parent, stack))
            except IntakeError:
                raise IntakeError(f"{self.path / name}: it cannot be read") from None

    def _list(self, folder: str) -> list[str]:
        """Notes the files of a folder; returns the folders in it."""
        inner = []
        with ExitStack() as stack:
            try:
                entries = stack.enter_context(os.scandir(self._open(folder, stack)))
                for entry in entries:
                    self._n_entries += 1
                    if self._n_entries > MAX_LISTED:
                        raise RefusedError(
                            f"more than {MAX_LISTED:,} files and folders; hand in only what is asked for"
                        )
                    name = f"{folder}/{entry.name}" if folder else entry.name
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        self.sizes[name] = status.st_size
                    elif not stat.S_ISDIR(status.st_mode):
                        self.others[name] = kind_of(status.st_mode)
                    elif not is_clutter(name):
                        inner.append(name)
            except OSError as error:
                raise IntakeError(f"{self.path / folder}: {error.strerror or error}") from None
        return sorted(inner)

    def _open(self, folder: str, stack: ExitStack) -> int:
        """A descriptor of a folder in here, reached level by level."""
        descriptor = None
        for part in (self.path, *filter(None, folder.split("/"))):
            try:
                descriptor = os.open(part, FOLDER_FLAGS, dir_fd=descriptor)
            except OSError as error:
                if error.errno in (errno.ENOTDIR, errno.ELOOP):
                    raise RefusedError(
                        f"{quote(str(part))} is a link, not a folder; hand in the folder itself"
                    ) from None
                raise IntakeError(f"{self.path / folder}: {error.strerror or error}") from None
            stack.callback(os.close, descriptor)
        return descriptor
