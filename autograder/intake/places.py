"""The folders of a submission: which of them holds the assignment's files, and what is beside it.

It is the top, the package's folder, or one of these one level down.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract

from .sources import ADAPTERS, RefusedError, quote
from .tree import TRANSLATIONS, Tree, is_clutter

ARCHIVES = (".zip",)
SHOWN_FILES = 3


@dataclass(frozen=True)
class Place:
    """A folder of the submission."""

    folder: str = ""  # its path; "" = the top
    files: frozenset[str] = frozenset()  # their names
    package: str = ""  # the name of the folder that holds the modules in the release

    @property
    def outer(self) -> str:
        """The folder that is meant: "anna" by "anna" and by the package's folder in it."""
        outer, _, name = self.folder.rpartition("/")
        return outer if name == self.package else self.folder

    @property
    def is_near(self) -> bool:
        """True for the top, the package's folder in it, and the same one level down."""
        return "/" not in self.outer

    def path(self, file: str) -> str:
        """The path of one of its files within the submission."""
        return f"{self.folder}/{file}" if self.folder else file

    def __str__(self) -> str:
        return quote(self.folder + "/") if self.folder else "the top folder"


def all_places(paths: Iterable[str], package: str) -> list[Place]:
    """All folders that hold files, except what systems and tools leave behind."""
    files: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if not is_clutter(path):
            files.setdefault(folder, set()).add(name)
    return [Place(folder, frozenset(names), package) for folder, names in sorted(files.items())]


def find_place(paths: Iterable[str], assignment: Assignment) -> Place | None:
    """The one place with modules of the contract; without any, the one with notebooks; otherwise None.

    Args:
        paths: of all files, within the submission.
        assignment: the contract, and the name of the folder that holds the modules in the release.

    Raises:
        RefusedError: where there are two such places.
    """
    places = all_places(paths, assignment.package)
    names = modules_of(assignment.contract)
    for is_kind in (names.__contains__, is_notebook):
        having = [place for place in places if place.is_near and any(map(is_kind, place.files))]
        for is_inner in (False, True):
            here = [place for place in having if (place.outer != "") == is_inner]
            if len(here) > 1:
                shown = " and in ".join(f"{place} ({some(filter(is_kind, place.files))})" for place in here[:2])
                where = f"in {len(here)} places, in {shown}"
                raise RefusedError(f"the assignment's files are {where}; hand in one of them")
            if here:
                return here[0]
    return None


def find_beside(paths: Iterable[str], place: Place | None, package: str, file: str) -> str | None:
    """The path of a file that lies beside the modules, or in a folder above them.

    Raises:
        RefusedError: where there are two.
    """
    having = [other for other in all_places(paths, package) if file in other.files]
    near = [other for other in having if (other.outer in ("", place.outer) if place else other.is_near)]
    if len(near) > 1:
        first, second = (quote(other.path(file)) for other in near[:2])
        raise RefusedError(f"there are two {file}, {first} and {second}; hand in one of them")
    return near[0].path(file) if near else None


def modules_of(contract: Contract) -> frozenset[str]:
    """The files by which a submission is recognised."""
    return frozenset((*contract.files, f"{ADAPTERS}.py"))


def is_notebook(file: str) -> bool:
    """True for the file name of a notebook."""
    return file.endswith(".ipynb")


def some(files: Iterable[str]) -> str:
    """The first few names, for a message."""
    names = sorted(files)
    return ", ".join(quote(name)[1:-1] for name in names[:SHOWN_FILES]) + (", …" if len(names) > SHOWN_FILES else "")


def notes_on_names(tree: Tree, package: str) -> list[str]:
    """Notes on files that got their names back, and on those that were skipped since they cannot be read safely."""
    repeated = [path.rpartition("/")[2] for path in tree.superseded]
    notes = [f"{name} was uploaded more than once; the last upload counts" for name in repeated]
    if not tree.last_counts:
        renamed = sorted(tree.renamed.keys() & tree.was_read)
        notes += [f"{quote(tree.renamed[path])} was read as {quote(path)}" for path in renamed]
    unread = {path for path, file in tree.files.items() if file.problem or path in tree.renamed} - tree.was_read
    near = [place.path(file) for place in all_places(unread, package) if place.is_near for file in place.files]
    return [*notes, f"skipped: {some(tree.renamed.get(path, path) for path in near)}"] if near else notes


def nothing_here(tree: Tree, assignment: Assignment) -> str:
    """Why a folder or an archive without any file that counts cannot be graded: what there is instead, and where."""
    contract = assignment.contract
    wanted = ", ".join(contract.files[:SHOWN_FILES])
    reason = f"none of the assignment's files ({wanted}, …, {TRANSLATIONS}) is in it"
    inner = [path for path in sorted(tree.files) if path.lower().endswith((*ARCHIVES, ".gz", ".rar", ".7z"))]
    if inner:
        return f"{reason}; there are other archives ({some(inner)}): hand in the files themselves"
    for place in all_places(tree.files, assignment.package):
        if files := [file for file in place.files if file in contract.files or is_notebook(file)]:
            return f"its files are too deep in it, in {place} ({some(files)}); hand in that folder"
    return reason
