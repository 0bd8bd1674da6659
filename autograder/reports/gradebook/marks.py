"""Writes the marks of one submission through nbgrader's own interface to its database."""

import logging
import os
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.printable_text import printable

from ...intake import Intake
from .feedback import remove_feedback, write_feedback
from .target import GradebookError, Target, check_student, find_target, graded_cells, read_notebooks, test_cell


def _in_one_line(method: Callable) -> Callable:
    """Lets what a database says to the operator come out as one line."""

    @wraps(method)
    def wrapped(self: "Gradebook", *arguments: object) -> object:
        from sqlalchemy.exc import SAWarning, SQLAlchemyError

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # about nbgrader's own use of it
                return method(self, *arguments)
        except (SQLAlchemyError, ValueError, ImportError) as error:
            if isinstance(error, GradebookError):
                raise
            cause = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
            raise GradebookError(f"gradebook {self.target.shown}: {cause}") from None

    return wrapped


class Gradebook:
    """nbgrader's gradebook, for one student's submission of the assignment."""

    def __init__(self, target: Target, student: str, assignment: Assignment) -> None:
        """Takes where marks go and whose they are; nothing is opened yet."""
        self.target, self.student = target, student
        self.name, self.notebooks = read_notebooks()
        self.cells = graded_cells(self.notebooks)
        points = {cell.name: cell.points for cell in self.cells}
        for task in assignment.tasks:
            if points.get(test_cell(task.number)) != task.points:
                other = points.get(test_cell(task.number))
                what = f"task {task.number} has {task.points:g} points, in the notebooks {other}"
                raise GradebookError(f"{what}: make release, so that they agree")

    @classmethod
    def open(cls, text: str, student: str, assignment: Assignment) -> "Gradebook":
        """From what the command line has.

        Raises:
            GradebookError: for a course, a student's id or notebooks that cannot be used.
        """
        return cls(find_target(text), check_student(student), assignment)

    @classmethod
    def open_all(cls, text: str, students: dict[str, str], assignment: Assignment) -> dict[str, "Gradebook"]:
        """For a class: the gradebook of each submission, by its file name; `students` has the ids by file name.

        Raises:
            GradebookError: also for two submissions of one student, of which the last would decide the marks.
        """
        files: dict[str, str] = {}
        for file, student in students.items():
            other = files.setdefault(student.casefold(), file)
            if other != file:
                both = f"{printable(other, 60)} and {printable(file, 60)}"
                raise GradebookError(f"{both} are both of the student {printable(student, 60)}; keep one")
        return {file: cls.open(text, student, assignment) for file, student in students.items()}

    @_in_one_line
    def reset(self) -> None:
        """Makes sure that all is there that marks need, and takes back what an earlier run has given.

        From here on nbgrader shows every part as one to be graded by hand, until `write` has given it a mark.
        """
        with self._connect() as book:
            self._prepare(book)
            self._clear(book)
            book.db.commit()
        if self._feedback:
            remove_feedback(self._feedback)

    @_in_one_line
    def write(self, content: dict) -> None:
        """Gives the marks of a record, all of them or none.

        What the grader itself could not judge gets no mark and waits for a human. A mark or points that someone gave
        by hand stay, as nbgrader has it, and are marked for a look.
        """
        parts = {test_cell(part["number"]): part for part in content["parts"]}
        with self._connect() as book:
            for grade in self._clear(book):
                part = parts.get(grade.cell.name)
                if part is not None and part["state"] != "grader error":
                    # More than the cell's points cannot be: a bonus has points in the assignment, and so in the cell.
                    grade.auto_score = min(float(part["score"]), grade.cell.max_score)
                    grade.needs_manual_grade = grade.manual_score is not None
            book.db.commit()

    def write_feedback(self, content: dict, intake: Intake | None) -> None:
        """Puts notebooks with answers and messages where nbgrader makes feedback from; only in a course's folder."""
        if self._feedback:
            write_feedback(self._feedback, self.notebooks, content, intake)

    @property
    def _feedback(self) -> Path | None:
        course = self.target.course
        return course / "autograded" / self.student / self.name if course else None

    def _connect(self):
        from nbgrader.api import Gradebook as Book  # here: nbgrader takes a second to load

        # nbgrader starts `alembic` by name when it makes a new database.
        programs = str(Path(sys.executable).parent)
        if programs not in os.environ.get("PATH", "").split(os.pathsep):
            os.environ["PATH"] = os.pathsep.join(filter(None, (programs, os.environ.get("PATH", ""))))
        logging.getLogger("traitlets").setLevel(logging.CRITICAL)  # what it logs is raised as well
        return Book(self.target.url)

    def _prepare(self, book) -> None:
        book.update_or_create_assignment(self.name)
        for notebook in self.notebooks:
            book.update_or_create_notebook(notebook, self.name)
        for cell in self.cells:
            if cell.points is None:
                book.update_or_create_solution_cell(cell.name, cell.notebook, self.name)
            else:
                more = {"max_score": cell.points, "cell_type": "code"}
                book.update_or_create_grade_cell(cell.name, cell.notebook, self.name, **more)
        book.update_or_create_student(self.student)
        book.update_or_create_submission(self.name, self.student)

    def _clear(self, book) -> list:
        """Takes all automatic marks back, without committing; returns nbgrader's grades."""
        grades = [
            book.find_grade(cell.name, cell.notebook, self.name, self.student)
            for cell in self.cells
            if cell.points is not None
        ]
        for grade in grades:
            grade.auto_score, grade.needs_manual_grade = None, True
        return grades
