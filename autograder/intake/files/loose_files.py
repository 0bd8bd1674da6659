"""A submission whose files lie loose beside those of others, as some learning platforms hand them out."""

from pathlib import Path

from .tree import Tree, problem_of, read_file


class LooseFiles(Tree):
    """The files of one submission; see `tree.Tree`.

    Attributes:
        name: of the submission, for reports.
        folder: that holds them.
        members: name within the submission, name in the folder; both without a slash.
    """

    last_counts = True

    def __init__(self, name: str, folder: Path, members: tuple[tuple[str, str], ...]) -> None:
        """Looks at the files."""
        super().__init__()
        self.name, self.folder, self.members = name, folder, members
        for member, entry in members:
            status = (folder / entry).lstat()
            self.add(member, status.st_size, folder / entry, problem_of(status.st_mode))

    def _read(self, handle: Path, limit: int) -> bytes:
        return read_file(handle, limit)
