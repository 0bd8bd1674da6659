"""From a path to the part of a submission that is graded: the contract's modules, and those that they import.

The modules lie in one folder: the top, the package's folder, or one of these one level down.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract
from foundation.places import ANSWERS
from foundation.processes import time_limit
from foundation.texts import clean, first_of, printable

from ..sandbox.worker.loading import OWN_MODEL
from .cells import Cell, Distribution, read_notebook
from .meanings import own_imports
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
    read_release,
)
from .tree import ARCHIVES, LIMITS, MAX_ARCHIVE_BYTES, TRANSLATIONS, LooseFiles, Tree, is_clutter, list_files, list_zip

SHOWN_NAME, SHOWN_FILES = 120, 3
MAX_DEPTH = 2  # of archives in archives, in the folder that a platform makes
MAX_NOTEBOOKS = 20
MAX_MODULES = 50
MAX_SOURCE_BYTES = 300_000  # all modules together
MAX_SECONDS = 60.0  # wall time for all of it; what is read within all bounds takes far less
TOO_SLOW = f"reading it took longer than {MAX_SECONDS:g} s; hand in only what is asked for"
SUFFIXES = (*ARCHIVES, ".ipynb")
EMPTY_CELL = "YOUR ANSWER HERE"  # the text of cells for answers as nbgrader hands them out


class IntakeRefusedError(IntakeError):
    """The submission exists but cannot be graded. This is a result with a reason, not an operator's mistake."""

    def __init__(self, name: str, reason: str, hashes: Mapping[str, str] = {}) -> None:
        super().__init__(f"{printable(name, SHOWN_NAME)}: {reason}")
        self.reason, self.hashes = reason, hashes


@dataclass
class Intake:
    """The part of a submission that is graded."""

    name: str  # for reports
    sources: dict[str, Source]  # the submission's modules merged with the release's
    submitted: set[str] = field(default_factory=set)  # names of the modules that the submission brings
    translations: bytes | None = None  # the content of translations.txt
    translations_problem: str = ""  # why it cannot be read
    answers: str = ""  # what the student has written for people to read
    hashes: dict[str, str] = field(default_factory=dict)  # file name -> sha256 of what was read, or of why it was not
    notes: list[str] = field(default_factory=list)  # what a person should know
    origins: dict[str, list[str]] = field(default_factory=dict)  # module -> cell and line that each line comes from
    release: Sources = field(default_factory=dict)  # the modules that were handed out

    def read(self, tree: Tree, path: str, name: str, limit: int | None = None) -> bytes:
        """The content of a file in a tree, whose hash is kept by its name here. Raises: RefusedError."""
        content = b""
        try:
            content = tree.read(path, limit)
            return content
        except RefusedError as error:  # its size is among the reasons
            content = f"not read: {error}".encode()
            raise
        finally:
            self.hashes[name] = hashlib.sha256(content).hexdigest()

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


def take_in(path: Path | LooseFiles, release: Path, assignment: Assignment) -> Intake:
    """Takes in one submission: a folder, a .zip, a notebook, or loose files; `release` is the skeleton's folder.

    Raises:
        IntakeRefusedError: where the submission cannot be graded: a result with a reason.
        IntakeError: where the path does not exist or cannot be read: the caller's mistake.
        RuntimeError: outside the main thread of a process, where no time limit can be kept.
    """
    given = read_release(release, assignment.contract)
    intake = Intake(name_of(path), {"__init__": given["__init__"]}, release=given)
    struck: list[float] = []
    try:
        with time_limit(MAX_SECONDS) as struck:
            take_tree(intake, list_files(path), assignment)
    except (RefusedError, TimeoutError) as error:
        reason = TOO_SLOW if struck else str(error)
        raise IntakeRefusedError(path.name or str(path), reason, intake.hashes) from None
    except (RecursionError, MemoryError, OSError) as error:
        why = f"it cannot be read: {type(error).__name__}: {printable(str(error), SHOWN_NAME)}"
        raise IntakeError(f"{printable(path.name or str(path), SHOWN_NAME)}: {why}") from error
    form = release / ANSWERS
    is_form = form.is_file() and intake.answers.split() == form.read_text(encoding="utf-8").split()
    intake.answers = "" if is_form else clean(intake.answers.strip(), LIMITS[ANSWERS])
    intake.notes = list(dict.fromkeys(intake.notes))
    return intake


def name_of(path: Path | LooseFiles) -> str:
    """A submission's name in reports: its file name without the extension."""
    if isinstance(path, LooseFiles):
        return path.name
    path = Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow a link and name its target
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def quote(name: str) -> str:
    """A file name from a submission, safe to show in a message."""
    return f"'{printable(name, SHOWN_NAME)}'"


def take_tree(intake: Intake, tree: Tree, assignment: Assignment, depth: int = 0) -> None:
    """Takes in the files that count, also of an archive in an archive; `depth` is the number of those around it."""
    tree.give_names_back()
    places = near_places(tree.files, assignment.package)
    place = find_place(places, assignment.contract)
    translations = find_beside(places, place, TRANSLATIONS)
    known = modules_of(assignment.contract)
    paths = [path.rpartition("/") for path in sorted(tree.files) if not is_clutter(path)]
    deep = [folder for folder, _, file in paths if file in known or is_notebook(file)]
    if place is None and (translations is None or deep):
        top = [path for path in tree.files if "/" not in path]
        archives = [path for path in top if path.lower().endswith(ARCHIVES)] or top * (len(tree.files) == 1)
        if translations is not None or len(archives) != 1 or depth == MAX_DEPTH:
            wanted = ", ".join((*assignment.contract.files[:SHOWN_FILES], "…", TRANSLATIONS))
            reason = f"none of the assignment's files ({wanted}) is in it, or in a folder in it"
            reason = f"the assignment's files lie too deep, in {quote(deep[0] + '/')}" if deep else reason
            raise RefusedError(f"{reason}; hand in the files themselves, in one folder or .zip")
        inner = list_zip(intake.read(tree, archives[0], archives[0], MAX_ARCHIVE_BYTES))
        take_tree(intake, inner, assignment, depth + 1)
        return
    if place is None or place.files & known:
        select_modules(intake, tree, place or Place(), assignment)
    else:
        files = sorted(filter(is_notebook, place.files))
        if len(files) > MAX_NOTEBOOKS:
            raise RefusedError(f"{len(files)} notebooks; at most {MAX_NOTEBOOKS} are read")
        cells: list[Cell] = []
        for file in files:
            try:
                cells += read_notebook(intake.read(tree, place.path(file), file), file)
            except RefusedError as error:
                raise RefusedError(f"{quote(file)}: {error}" if len(tree.files) > 1 else str(error)) from None
        take_cells(intake, cells, files[0] if len(files) == 1 else "notebooks", assignment)
    try:
        if translations is not None:
            intake.translations = intake.read(tree, translations, TRANSLATIONS)
    except RefusedError as error:
        intake.translations_problem = f"{TRANSLATIONS}: {error}"
    try:
        answers = find_beside(places, place, ANSWERS)
        if answers is not None and assignment.written:
            intake.answers = intake.read(tree, answers, ANSWERS).decode("utf-8", "replace")
    except RefusedError as error:
        intake.notes.append(f"{ANSWERS} is not shown: {error}")
    intake.notes += notes_on_names(tree, assignment.package)


def take_cells(intake: Intake, cells: list[Cell], path: str, assignment: Assignment) -> None:
    """Takes in the modules that cells define, completed by the release's; `path` names their file in messages."""
    code = [cell for cell in cells if not cell.is_text]
    distribution = Distribution(code, intake.release, assignment, path)
    if not distribution.sources:
        raise RefusedError("no cell defines any of the assignment's classes and functions")
    intake.sources |= distribution.sources
    intake.submitted |= distribution.sources.keys()
    intake.origins = distribution.origins
    intake.notes += distribution.notes
    intake.complete(assignment.contract)
    if assignment.written:
        texts = [cell.text.strip() for cell in cells if cell.is_text]
        intake.answers = "\n\n".join(text for text in texts if text != EMPTY_CELL)


@dataclass(frozen=True)
class Place:
    """A folder of the submission."""

    folder: str = ""  # its path; "" = the top
    outer: str = ""  # the folder that is meant: "anna" by "anna" and by the package's folder in it
    files: frozenset[str] = frozenset()  # their names

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
    places = []
    for folder, names in sorted(files.items()):
        above, _, name = folder.rpartition("/")
        outer = above if name == package else folder
        if "/" not in outer:
            places.append(Place(folder, outer, frozenset(names)))
    return places


def find_place(places: Sequence[Place], contract: Contract) -> Place | None:
    """The place with modules of the contract, else the one with notebooks, else None. Raises: RefusedError for two."""
    for is_kind in (modules_of(contract).__contains__, is_notebook):
        having = sorted((place for place in places if any(map(is_kind, place.files))), key=lambda at: at.outer != "")
        equal = [place for place in having if bool(place.outer) == bool(having[0].outer)]
        if len(equal) > 1:
            shown = " and in ".join(f"{place} ({some(filter(is_kind, place.files))})" for place in equal[:2])
            raise RefusedError(f"the assignment's files are in {len(equal)} places, in {shown}; hand in one of them")
        if having:
            return having[0]
    return None


def find_beside(places: Iterable[Place], place: Place | None, file: str) -> str | None:
    """The path of a file that lies beside the modules, or in a folder above them. Raises: RefusedError for two."""
    near = [at for at in places if file in at.files and (place is None or at.outer in ("", place.outer))]
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
    return first_of([printable(name, SHOWN_NAME) for name in sorted(files)], SHOWN_FILES)


def select_modules(intake: Intake, tree: Tree, place: Place, assignment: Assignment) -> None:
    """Takes in the contract's modules, and those that they import relatively. Raises: RefusedError."""
    sizes: list[int] = []

    def read(module: str) -> Source | None:
        path = module.replace(".", "/")
        file = next((name for name in (f"{path}.py", f"{path}/__init__.py") if place.path(name) in tree.files), None)
        if file is None:
            return None
        try:
            content = intake.read(tree, place.path(file), file)
        except RefusedError as error:
            raise RefusedError(f"{quote(place.path(file))}: {error}") from None
        sizes.append(len(content))
        if len(sizes) > MAX_MODULES or sum(sizes) > MAX_SOURCE_BYTES:
            reason = f"more than {MAX_MODULES} modules, or {MAX_SOURCE_BYTES:,} bytes of Python, are imported"
            raise RefusedError(f"{reason}; hand in only what is asked for")
        intake.submitted.add(module)
        try:
            text = decode(content)
        except RefusedError as error:  # as in a student's own run, it costs the module alone
            intake.notes.append(f"{file}: {error}")
            return failing_module(module, intake.notes[-1])
        if module in assignment.contract.modules and not text.strip():
            intake.notes.append(f"{file}: it is empty; hand in the file that holds your code")
        return file, text

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


def notes_on_names(tree: Tree, package: str) -> Iterator[str]:
    """Notes on files that got their names back, and on those that were skipped since they cannot be read safely."""
    if renamed := [name for path, name in tree.renamed.items() if path in tree.was_read]:
        yield f"read without the numbers that an upload put behind their names: {some(renamed)}"
    unread = {path for path, file in tree.files.items() if file.problem} - tree.was_read
    if near := [place.path(file) for place in near_places(unread, package) for file in place.files]:
        yield f"skipped: {some(near)}"
