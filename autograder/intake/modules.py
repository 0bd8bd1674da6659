"""The part of a submission that is graded: the contract's modules, and those beside them that they import.

They lie in one folder: the top, the package's folder, or one of these one level down.
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

    def path(self, file: str) -> str:
        """The path of one of its files within the submission."""
        return f"{self.folder}/{file}" if self.folder else file

    def __str__(self) -> str:
        return quote(self.folder + "/") if self.folder else "the top folder"


def near_places(paths: Iterable[str], package: str) -> list[Place]:
    """The top, the package's folder in it, and the same one level down, without what systems and tools leave behind."""
    files: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if not is_clutter(path):
            files.setdefault(folder, set()).add(name)
    places = [Place(folder, frozenset(names), package) for folder, names in sorted(files.items())]
    return [place for place in places if "/" not in place.outer]


def find_place(paths: Iterable[str], assignment: Assignment) -> Place | None:
    """The one place with modules of the contract; without any, the one with notebooks; otherwise None.

    Raises: RefusedError where there are two such places, equally deep.
    """
    places = near_places(paths, assignment.package)
    names = modules_of(assignment.contract)
    for is_kind in (names.__contains__, is_notebook):
        having = sorted((place for place in places if any(map(is_kind, place.files))), key=lambda at: at.outer != "")
        if others := [place for place in having[1:] if bool(place.outer) == bool(having[0].outer)]:
            shown = " and in ".join(
                f"{place} ({some(filter(is_kind, place.files))})" for place in (having[0], others[0])
            )
            where = f"in {len(others) + 1} places, in {shown}"
            raise RefusedError(f"the assignment's files are {where}; hand in one of them")
        if having:
            return having[0]
    return None


def find_beside(paths: Iterable[str], place: Place | None, package: str, file: str) -> str | None:
    """The path of a file that lies beside the modules, or in a folder above them. Raises: RefusedError for two."""
    having = [other for other in near_places(paths, package) if file in other.files]
    near = [other for other in having if place is None or other.outer in ("", place.outer)]
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
        """Adds the contract's modules and those that modules import; `read` finds the submission's own."""
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
    """The modules of the skeleton that was handed out. Raises: IntakeError."""
    modules = {module: (file_of(module, path), text) for module, (path, text) in read_modules(release).items()}
    missing = [module for module in (*contract.modules, "__init__") if module not in modules]
    if missing:
        raise IntakeError(f"{release}: not the assignment's skeleton: {missing[0]}.py is missing")
    return modules


def select_modules(intake: Intake, tree: Tree, place: Place, assignment: Assignment) -> None:
    """Takes in the contract's modules and those they import relatively.

    Raises: RefusedError for too many or too large modules, and for one that is used and cannot be read.
    """
    sizes: list[int] = []

    def read(module: str) -> Source | None:
        path = module.replace(".", "/")
        file = next((name for name in (f"{path}.py", f"{path}/__init__.py") if place.path(name) in tree.files), None)
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
    places = near_places(whole, assignment.package)
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


def notes_on_names(tree: Tree, package: str) -> list[str]:
    """Notes on files that got their names back, and on those that were skipped since they cannot be read safely."""
    repeated = [path.rpartition("/")[2] for path in tree.superseded]
    notes = [f"{name} was uploaded more than once; the last upload counts" for name in repeated]
    if not tree.last_counts:
        renamed = sorted(tree.renamed.keys() & tree.was_read)
        notes += [f"{quote(tree.renamed[path])} was read as {quote(path)}" for path in renamed]
    unread = {path for path, file in tree.files.items() if file.problem} - tree.was_read
    near = [place.path(file) for place in near_places(unread, package) for file in place.files]
    return [*notes, f"skipped: {some(near)}"] if near else notes
