"""Which gradebook is meant, and which cells of the notebooks have which points."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from foundation.places import ROOT

HANDED_OUT = ROOT / "notebooks" / "release"
"""The students' notebooks, by nbgrader's name of the assignment."""

STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")


class GradebookError(ValueError):
    """A gradebook that cannot be used; the message says which and why, without a password."""


@dataclass(frozen=True)
class Target:
    """Where marks go.

    Attributes:
        url: of the database.
        course: nbgrader's folder, or None where only a database was named.
    """

    url: str
    course: Path | None

    @property
    def shown(self) -> str:
        """For messages: a password does not stand in it."""
        return str(self.course) if self.course else re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", self.url)


@dataclass(frozen=True)
class GradedCell:
    """A cell of a notebook that nbgrader keeps something about: points of a test cell, comments on an answer cell."""

    notebook: str
    name: str
    points: float | None  # None: an answer cell


def find_target(text: str) -> Target:
    """From a course's folder or a database's URL.

    Raises:
        GradebookError: for what is neither.
    """
    if "://" in text:
        # A bare postgresql:// stands for a driver that is rarely installed; psycopg is what the kit requires.
        return Target(re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", text), None)
    folder = Path(text)
    if not (folder / "nbgrader_config.py").is_file():
        what = "no nbgrader course (nbgrader_config.py is missing there)"
        raise GradebookError(f"{text}: {what}; expected its folder, such as notebooks, or a URL like postgresql://…")
    return Target(f"sqlite:///{(folder / 'gradebook.db').resolve()}", folder)


def check_student(student: str) -> str:
    """nbgrader's id of a student, which becomes a folder's name.

    Raises:
        GradebookError: where it could not.
    """
    if not STUDENT.fullmatch(student):
        raise GradebookError(f"--student {student!r}: expected letters, digits and . _ @ -, not a dot at first")
    return student


def read_notebooks() -> tuple[str, dict[str, dict]]:
    """nbgrader's name of the assignment, and the students' notebooks by name, as they were handed out.

    Raises:
        GradebookError: where there are none.
    """
    folders = sorted(path for path in HANDED_OUT.glob("*") if any(path.glob("*.ipynb")))
    if len(folders) != 1:
        raise GradebookError(f"{HANDED_OUT}: expected one folder with notebooks, found {len(folders)}: make release")
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folders[0].glob("*.ipynb"))}
    return folders[0].name, found


def graded_cells(notebooks: dict[str, dict]) -> list[GradedCell]:
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
