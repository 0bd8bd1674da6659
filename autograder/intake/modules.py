"""The part of a submission that is graded: the contract's modules, and those beside them that they import."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract

from ..sandbox.worker.loading import OWN_MODEL
from .names import own_imports
from .places import Place, all_places, is_notebook, modules_of, some
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
from .tree import MAX_MODULES, MAX_SOURCE_BYTES, Tree


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
    places = [near for near in all_places(whole, assignment.package) if near.is_near]
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
