"""A submission whose files lie loose beside those of others, as some learning platforms hand them out."""

import stat
from dataclasses import dataclass, field
from pathlib import Path

from ..size_limits import limit_of
from .tree import kind_of, read_file


@dataclass(eq=False)
class LooseFiles:
    """The files of one submission; see `tree.Tree`.

    Attributes:
        name: of the submission, for reports.
        folder: that holds them.
        members: name within the submission, name in the folder; both without a slash.
    """

    name: str
    folder: Path
    members: tuple[tuple[str, str], ...]
    sizes: dict[str, int] = field(default_factory=dict, compare=False)
    others: dict[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        """Looks at the files."""
        for name, entry in self.members:
            status = (self.folder / entry).lstat()
            if stat.S_ISREG(status.st_mode):
                self.sizes[name] = status.st_size
            else:
                self.others[name] = kind_of(status.st_mode)

    def look_into(self, folder: str) -> None:
        """Does nothing: there are no folders."""

    def look_deeper(self) -> None:
        """Does nothing: there are no folders."""

    def read(self, name: str, limit: int | None = None) -> bytes:
        """The content of a file, of at most `limit` bytes; see `tree.Tree`."""
        return read_file(self.folder / dict(self.members)[name], limit or limit_of(name))
