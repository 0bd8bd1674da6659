"""Finds the folder of a submission that holds the assignment's files: the top, the package's, or one level down."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract

from ..adapters import ADAPTERS
from ..sources import RefusedError, quote
from .tree import is_clutter

SHOWN_FILES = 3


@dataclass(frozen=True)
class Place:
    """A folder of the submission: its path ("" for the top) and the names of its files."""

    folder: str
    files: frozenset[str]

    def path(self, file: str) -> str:
        """The path of one of its files within the submission."""
        return f"{self.folder}/{file}" if self.folder else file

    def __str__(self) -> str:
        return quote(self.folder + "/") if self.folder else "the top folder"


def find_place(paths: Iterable[str], assignment: Assignment) -> Place | None:
    """The one place with modules of the contract; without any, the one with notebooks; otherwise None.

    Args:
        paths: of all files, within the submission.
        assignment: the contract, and the name of the folder that holds the modules in the release.

    Raises:
        RefusedError: where there are two such places.
    """
    places = all_places(paths)

    def is_module(file: str) -> bool:
        return file in modules_of(assignment.contract)

    for is_kind in (is_module, is_notebook):
        having = [place for place in places if any(map(is_kind, place.files))]
        for level in (0, 1):
            found = [place for place in having if level_of(place.folder, assignment.package) == level]
            if len(found) > 1:
                shown = " and in ".join(f"{place} ({some(filter(is_kind, place.files))})" for place in found[:2])
                raise RefusedError(
                    f"the assignment's files are in {len(found)} places, in {shown}; hand in one of them"
                )
            if found:
                return found[0]
    return None


def find_beside(paths: Iterable[str], place: Place | None, package: str, file: str) -> str | None:
    """The path of a file that lies beside the modules, or in a folder above them.

    Raises:
        RefusedError: where there are two.
    """
    folders = {path: path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] == file}
    if place is None:
        nearest = min((level_of(folder, package) for folder in folders.values()), default=FAR)
        found = [path for path, folder in folders.items() if level_of(folder, package) == nearest < FAR]
    else:
        above = {"", *accumulate(place.folder.split("/"), "{}/{}".format), *([] if place.folder else [package])}
        found = [path for path, folder in folders.items() if folder in above]
    if len(found) > 1:
        raise RefusedError(f"there are two {file}, {quote(found[0])} and {quote(found[1])}; hand in one of them")
    return found[0] if found else None


def all_places(paths: Iterable[str]) -> list[Place]:
    """All folders that hold files, except what systems and tools leave behind."""
    files: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if not is_clutter(path):
            files.setdefault(folder, set()).add(name)
    return [Place(folder, frozenset(names)) for folder, names in sorted(files.items())]


FAR = 2


def level_of(folder: str, package: str) -> int:
    """0: the top or the package's folder in it; 1: the same one level down; FAR: anything else."""
    match folder.split("/") if folder else []:
        case []:
            return 0
        case [name]:
            return 0 if name == package else 1
        case [_, name] if name == package:
            return 1
    return FAR


def has_modules(place: Place, contract: Contract) -> bool:
    """Whether some of the contract's modules lie in a place, or what stands for them."""
    return not place.files.isdisjoint(modules_of(contract))


def modules_of(contract: Contract) -> tuple[str, ...]:
    """The files by which a submission is recognised."""
    return (*contract.files, f"{ADAPTERS}.py")


def is_notebook(file: str) -> bool:
    """Whether a file name is that of a notebook."""
    return file.endswith(".ipynb")


def some(files: Iterable[str]) -> str:
    """The first few names, for a message."""
    names = sorted(files)
    return ", ".join(quote(name)[1:-1] for name in names[:SHOWN_FILES]) + (", …" if len(names) > SHOWN_FILES else "")
