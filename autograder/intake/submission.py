"""From a path to the sources that are graded."""

import os
from collections.abc import Mapping
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.places import ANSWERS
from foundation.processes import time_limit
from foundation.texts import clean, printable

from .cells import Cell, Distribution, read_notebook
from .modules import (
    SHOWN_FILES,
    Intake,
    Place,
    find_beside,
    find_place,
    is_notebook,
    modules_of,
    notes_on_names,
    read_release,
    select_modules,
)
from .sources import SHOWN_NAME, IntakeError, RefusedError, quote
from .tree import (
    ARCHIVES,
    MAX_ANSWERS_BYTES,
    MAX_ARCHIVE_BYTES,
    MAX_NOTEBOOKS,
    MAX_SECONDS,
    TRANSLATIONS,
    LooseFiles,
    Tree,
    list_files,
    list_zip,
)

TOO_SLOW = f"reading it took longer than {MAX_SECONDS:g} s; hand in only what is asked for"
SUFFIXES = (*ARCHIVES, ".ipynb")
EMPTY_CELL = "YOUR ANSWER HERE"
"""The text of cells for answers as nbgrader hands them out."""


class IntakeRefusedError(IntakeError):
    """The submission exists but cannot be graded. This is a result with a reason, not an operator's mistake."""

    def __init__(self, name: str, reason: str, hashes: Mapping[str, str] = {}) -> None:
        super().__init__(f"{printable(name, SHOWN_NAME)}: {reason}")
        self.reason, self.hashes = reason, hashes


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
    form = release / ANSWERS
    is_form = form.is_file() and intake.answers.split() == form.read_text(encoding="utf-8").split()
    intake.answers = "" if is_form else clean(intake.answers.strip(), MAX_ANSWERS_BYTES)
    intake.notes = list(dict.fromkeys(intake.notes))
    return intake


def name_of(path: Path | LooseFiles) -> str:
    """A submission's name in reports: its file name without the extension."""
    if isinstance(path, LooseFiles):
        return path.name
    path = Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow a link and name its target
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def take_tree(intake: Intake, tree: Tree, assignment: Assignment, is_archive: bool = False) -> None:
    """Takes in the files that count."""
    package = assignment.package
    tree.give_names_back()
    place = find_place(tree.files, assignment)
    translations = find_beside(tree.files, place, package, TRANSLATIONS)
    if place is None and translations is None:
        archives = [path for path in tree.files if "/" not in path and path.lower().endswith(ARCHIVES)]
        archives = archives or list(tree.files) * (len(tree.files) == 1)
        if len(archives) != 1 or is_archive:
            wanted = ", ".join((*assignment.contract.files[:SHOWN_FILES], "…", TRANSLATIONS))
            reason = f"none of the assignment's files ({wanted}) is in it, or in a folder in it"
            raise RefusedError(f"{reason}; hand in the files themselves, in one folder or .zip")
        inner = list_zip(intake.hashed(archives[0], tree.read(archives[0], MAX_ARCHIVE_BYTES)))
        inner.superseded += tree.superseded
        take_tree(intake, inner, assignment, is_archive=True)
        return
    if place is None or place.files & modules_of(assignment.contract):
        select_modules(intake, tree, place or Place(), assignment)
    else:
        files = sorted(filter(is_notebook, place.files))
        if len(files) > MAX_NOTEBOOKS:
            raise RefusedError(f"{len(files)} notebooks; at most {MAX_NOTEBOOKS} are read")
        cells: list[Cell] = []
        for file in files:
            try:
                cells += read_notebook(intake.hashed(file, tree.read(place.path(file))), file)
            except RefusedError as error:
                raise RefusedError(f"{quote(file)}: {error}" if len(tree.files) > 1 else str(error)) from None
        take_notebooks(intake, cells, files[0] if len(files) == 1 else "notebooks", assignment)
    try:
        if translations is not None:
            intake.translations = intake.hashed(TRANSLATIONS, tree.read(translations))
    except RefusedError as error:
        intake.translations_problem = f"{TRANSLATIONS}: {error}"
    try:
        answers = find_beside(tree.files, place, package, ANSWERS)
        if answers is not None and assignment.written:
            intake.answers = intake.hashed(ANSWERS, tree.read(answers)).decode("utf-8", "replace")
    except RefusedError as error:
        intake.notes.append(f"{ANSWERS} is not shown: {error}")
    intake.notes += notes_on_names(tree, package)


def take_notebooks(intake: Intake, cells: list[Cell], path: str, assignment: Assignment) -> None:
    """Takes in the modules that cells define, completed by the release's."""
    texts = [cell.text.strip() for cell in cells if cell.is_text]
    distribution = Distribution([cell for cell in cells if not cell.is_text], intake.release, assignment)
    intake.notes += distribution.notes
    distribution.fill(intake, path)
    if not intake.submitted:
        raise RefusedError("no cell defines any of the assignment's classes and functions")
    intake.complete(assignment.contract)
    if assignment.written:
        intake.answers = "\n\n".join(text for text in texts if text != EMPTY_CELL)
