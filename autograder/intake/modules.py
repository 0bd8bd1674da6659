"""Finds the folder that holds the assignment's files, and selects the Python files that count.

The folder is the top, the package's, or one level down. What counts are the contract's modules, and those beside them
that they import.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract

from ..sandbox.worker.loading import OWN_MODEL
from .names import own_imports
from .sources import (
    ADAPTERS,
    IntakeError,
    RefusedError,
    Source,
    Sources,
    adapt,
    decode,
    failing_module,
    file_of,
    quote,
    read_modules,
)
from .tree import MAX_MODULES, MAX_SOURCE_BYTES, Tree, is_clutter

SHOWN_FILES = 3


@dataclass
class Intake:
    """The part of a submission that is graded."""

    name: str  # for reports
    sources: dict[str, Source]  # the submission's modules merged with the release's
    submitted: set[str] = field(default_factory=set)  # names of the modules that the submission brings
    translations: bytes | None = None  # the content of translations.txt
    translations_problem: str = ""  # why it cannot be read
    answers: str = ""  # what the student has written for people to read
    hashes: dict[str, str] = field(default_factory=dict)  # file name -> sha256 of every file that was read
    notes: list[str] = field(default_factory=list)  # what a person should know
    origins: dict[str, list[str]] = field(default_factory=dict)  # module -> cell and line that each line comes from
    release: Sources = field(default_factory=dict)  # the modules that were handed out

    def hashed(self, name: str, content: bytes) -> bytes:
        """The content of a file, whose hash is kept."""
        self.hashes[name] = hashlib.sha256(content).hexdigest()
        return content

    def locate(self, module: str, line: int) -> str:
        """Where the student finds a line: "layers.py, line 12", "work.ipynb, cell 7, line 3"."""
        origins = self.origins.get(module, [])
        origin = origins[line - 1] if 0 < line <= len(origins) else ""
        return origin or f"{file_of(module, self.sources.get(module, ('', ''))[0])}, line {line}"

    def complete(self, contract: Contract, read: Callable[[str], Source | None] = lambda module: None) -> None:
        """Adds the contract's modules and what modules import, from the submission or else from the release.

        Args:
            contract: names those that are there in any case.
            read: finds a module of the submission, if it has one of that name.
        """
        if self._gather([ADAPTERS], read, f"{OWN_MODEL}."):
            self.submitted = {f"{OWN_MODEL}.{module}" for module in self.submitted}
            self._gather([*contract.modules], self.release.get)
        else:
            self._gather([*contract.modules], lambda module: read(module) or self.release.get(module))
        self.sources = adapt(self.sources, contract)

    def _gather(self, wanted: list[str], read: Callable[[str], Source | None], within: str = "") -> bool:
        """Adds modules, and those that they import, to the package `within`. Returns True if there are any."""
        seen = {"__init__"} if not within else set()
        for module in wanted:  # which grows
            source = self.sources.get(within + module) or read(module) if module not in seen else None
            seen.add(module)
            if source:
                path, text = self.sources[within + module] = source
                wanted += own_imports(text, module, path, bool(within))  # the components' tests report a syntax error
        return within + wanted[0] in self.sources


def read_release(release: Path, contract: Contract) -> Sources:
    """The modules of the skeleton that was handed out.

    Raises:
        IntakeError: where it is missing or cannot be read.
    """
    modules = {module: (file_of(module, path), text) for module, (path, text) in read_modules(release).items()}
    missing = [module for module in (*contract.modules, "__init__") if module not in modules]
    if missing:
        raise IntakeError(f"{release}: not the assignment's skeleton: {missing[0]}.py is missing")
    return modules


def select_modules(intake: Intake, tree: Tree, place: Place, assignment: Assignment) -> None:
    """Takes in the contract's modules and those they import relatively.

    Raises:
        RefusedError: for too many or too large modules, and for one that is used and cannot be read.
    """
    sizes: list[int] = []

    def read(module: str) -> Source | None:
        path = module.replace(".", "/")
        file = next((name for name in (f"{path}.py", f"{path}/__init__.py") if tree.find(place.path(name))), None)
        if file is None:
            return None
        try:
            content = intake.hashed(file, tree.read(place.path(file)))
        except RefusedError as error:
            raise RefusedError(f"{quote(place.path(file))}: {error}") from None
        sizes.append(len(content))
        if len(sizes) > MAX_MODULES or sum(sizes) > MAX_SOURCE_BYTES:
            reason = f"more than {MAX_MODULES} modules, or {MAX_SOURCE_BYTES:,} bytes of Python, are imported"
            raise RefusedError(f"{reason}; hand in only what is asked for")
        intake.submitted.add(module)
        try:
            return file, decode(content)
        except RefusedError as error:  # as in a student's own run, it costs the module alone
            intake.notes.append(f"{file}: {error}")
            return failing_module(module, intake.notes[-1])

    intake.complete(assignment.contract, read)
    intake.notes += notes_on_others(intake, tree, place, assignment)


def notes_on_others(intake: Intake, tree: Tree, place: Place, assignment: Assignment) -> Iterator[str]:
    """Notes on files that have no effect although someone may expect one."""
    whole = [path for path, file in tree.files.items() if not file.problem]
    places = [near for near in all_places(whole) if level_of(near.folder, assignment.package) < FAR]
    files = {file for near in places if near.folder == place.folder for file in near.files}
    others = {file for file in files if file.endswith(".py") and file not in intake.hashes}
    if f"{ADAPTERS}.py" not in intake.hashes:  # a model of one's own may have files of the same names
        others -= {f"{name}.py" for name in intake.release}
    if others:
        yield f"ignored, since the assignment's modules do not import them: {some(others)}"
    if any(map(is_notebook, files)):
        yield "the .py files were graded; the notebook beside them was ignored"
    used = {place.folder, *(place.path(file).rpartition("/")[0] for file in intake.hashes)}
    names = modules_of(assignment.contract)
    elsewhere = [str(near) for near in places if near.files & names and near.folder not in used]
    if elsewhere:
        yield f"graded: the files in {place}; ignored: those in {', '.join(elsewhere[:3])}"


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
    names = modules_of(assignment.contract)
    for is_kind in (names.__contains__, is_notebook):
        for level in (0, 1):
            having = [place for place in places if any(map(is_kind, place.files))]
            here = [place for place in having if level_of(place.folder, assignment.package) == level]
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
    folders = {path: path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] == file}
    if place is None:
        near = [path for path, folder in folders.items() if level_of(folder, package) < FAR]
    else:
        meant = "", around(place.folder, package)
        near = [path for path, folder in folders.items() if around(folder, package) in meant]
    if len(near) > 1:
        raise RefusedError(f"there are two {file}, {quote(near[0])} and {quote(near[1])}; hand in one of them")
    return near[0] if near else None


def all_places(paths: Iterable[str]) -> list[Place]:
    """All folders that hold files, except what systems and tools leave behind."""
    files: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if not is_clutter(path):
            files.setdefault(folder, set()).add(name)
    return [Place(folder, frozenset(names)) for folder, names in sorted(files.items())]


def around(folder: str, package: str) -> str:
    """The folder that is meant by a path: "anna" by "anna" and by the package's folder in it."""
    outer, _, name = folder.rpartition("/")
    return outer if name == package else folder


FAR = 2


def level_of(folder: str, package: str) -> int:
    """0: the top or the package's folder in it; 1: the same one level down; FAR: anything else."""
    outer = around(folder, package)
    return FAR if "/" in outer else int(outer != "")


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
