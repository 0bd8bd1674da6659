"""Finds the gradebook that marks go to, and the graded cells of the notebooks."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import make_url

from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.places import ROOT

from ...classroom.store.database import parse_url, shown

HANDED_OUT = ROOT / "notebooks" / "release"
"""The students' notebooks, by nbgrader's name of the assignment."""

Json = dict[str, Any]
"""A notebook, a cell or a part of a record, as nbformat and the record's schema define it."""

STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")


class GradebookError(UserError):
    """A gradebook cannot be used; the message says which and why, without a password."""


@dataclass(frozen=True)
class Target:
    """The gradebook that marks go to.

    Attributes:
        url: of the database.
        course: nbgrader's folder, or None where only a database was given.
    """

    url: str
    course: Path | None

    @property
    def shown(self) -> str:
        """For messages: the folder, or the database without its password."""
        return str(self.course) if self.course else shown(make_url(self.url))


@dataclass(frozen=True)
class GradedCell:
    """A cell of which nbgrader keeps a record: a test cell with points, or an answer cell with comments.

    Attributes:
        notebook: its notebook's name.
        name: nbgrader's id of the cell.
        points: None for an answer cell.
    """

    notebook: str
    name: str
    points: float | None


def find_target(text: str) -> Target:
    """The target that a course's folder or a database's URL names.

    Raises:
        GradebookError: for text that is neither.
    """
    expected = "expected a folder such as notebooks, or a URL like postgresql://…"
    if "://" in text:
        try:
            return Target(parse_url(text).render_as_string(hide_password=False), None)
        except ValueError as error:
            raise GradebookError(f"--to-nbgrader: {error}; {expected}") from None
    folder = Path(text)
    if not (folder / "nbgrader_config.py").is_file():
        named = text if text and ":" not in text else "--to-nbgrader"  # a URL with a slip may have a password
        raise GradebookError(f"{named}: is not an nbgrader course (it has no nbgrader_config.py); {expected}")
    return Target(f"sqlite:///{(folder / 'gradebook.db').resolve()}", folder)


def check_student(student: str) -> str:
    """Checks a student's id, which becomes a folder's name; returns it.

    Raises:
        GradebookError: for an id that cannot be a folder's name.
    """
    if not STUDENT.fullmatch(student):
        raise GradebookError(
            f"--student {student!r}: expected letters, digits and . _ @ -, beginning with a letter or digit"
        )
    return student


def read_notebooks() -> tuple[str, dict[str, Json]]:
    """The assignment's name in nbgrader, and the notebooks that were handed out, by name.

    Raises:
        GradebookError: where there are none.
    """
    name = read_assignment().name
    paths = sorted((HANDED_OUT / name).glob("*.ipynb"))
    if not paths:
        raise GradebookError(f"{HANDED_OUT / name}: there are no notebooks: run make release")
    return name, {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def graded_cells(notebooks: dict[str, Json]) -> list[GradedCell]:
    """The test cells and the answer cells of all notebooks."""
    found = []
    for name, notebook in notebooks.items():
        for cell in notebook["cells"]:
            marks = cell["metadata"].get("nbgrader", {})
            if marks.get("grade") or marks.get("solution"):
                points = float(marks["points"]) if marks["grade"] else None
                found.append(GradedCell(name, marks["grade_id"], points))
    return found


def test_cell(number: str) -> str:
    """The name of a task's test cell: 1.3 -> test_1_3."""
    return "test_" + number.replace(".", "_").lower()
