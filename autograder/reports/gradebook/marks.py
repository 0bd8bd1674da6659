"""Writes a submission's marks through nbgrader's own interface to its database."""

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foundation.assignment_file import Assignment
from foundation.printable_text import printable

from ...grading.record import Record
from ...intake import Intake
from .feedback import remove_feedback, write_feedback
from .target import STUDENT, GradebookError, Target, check_student, find_target, graded_cells, read_notebooks, test_cell


@contextmanager
def errors_in_one_line(target: Target) -> Iterator[None]:
    """Turns a database's errors into one line for the operator."""
    from sqlalchemy.exc import SAWarning, SQLAlchemyError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # caused by nbgrader itself
            yield
    except GradebookError:
        raise
    except (SQLAlchemyError, ValueError, ImportError) as error:
        cause = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
        raise GradebookError(f"gradebook {target.shown}: {cause}") from None


class Gradebook:
    """nbgrader's gradebook, for one student's submission of the assignment."""

    def __init__(self, target: Target, student: str, assignment: Assignment) -> None:
        """Reads the notebooks and compares their points with the assignment's; opens nothing yet.

        Raises:
            GradebookError: where the points differ.
        """
        self.target, self.student = target, student
        self.name, self.notebooks = read_notebooks()
        self.cells = graded_cells(self.notebooks)
        points = {cell.name: cell.points for cell in self.cells}
        for task in assignment.tasks:
            if points.get(test_cell(task.number)) != task.points:
                other = points.get(test_cell(task.number))
                what = f"task {task.number} has {task.points:g} points, but {other} in the notebooks"
                raise GradebookError(f"{what}: run make release, so that they agree")

    @classmethod
    def open(cls, text: str, student: str, assignment: Assignment) -> "Gradebook":
        """The gradebook for the command line's arguments.

        Raises:
            GradebookError: for a course, a student's id or notebooks that cannot be used.
        """
        return cls(find_target(text), check_student(student), assignment)

    @classmethod
    def open_all(
        cls, text: str, students: dict[str, str], assignment: Assignment, note: Callable[[str], None]
    ) -> dict[str, "Gradebook"]:
        """The gradebooks for a class, by the submissions' file names.

        Submissions whose student is in doubt have none: several of one student, of which only one can count, and those
        whose name is no id.

        Args:
            text: the course's folder or the database's URL.
            students: file name -> nbgrader's id of the student.
            assignment: whose marks are written.
            note: called with a line for each student in doubt.

        Raises:
            GradebookError: for a course or notebooks that cannot be used.
        """
        target = find_target(text)
        files: dict[str, list[str]] = {}
        for file, name in students.items():
            files.setdefault(name, []).append(file)
        books = {}
        for student, same in files.items():
            if len(same) > 1:
                all_files = ", ".join(printable(file, 60) for file in same)
                note(f"not in the gradebook: {all_files} belong to one student, {printable(student, 60)}; keep one")
            elif not STUDENT.fullmatch(student):
                note(f"not in the gradebook: {printable(same[0], 60)}, whose name is no student's id in nbgrader")
            else:
                books[same[0]] = cls(target, student, assignment)
        return {file: books[file] for file in students if file in books}

    def reset(self) -> None:
        """Creates the entries that marks need, and withdraws the marks of an earlier run.

        From now on nbgrader shows every part as one to be graded by hand, until `write` gives it a mark.
        """
        with errors_in_one_line(self.target), self._connect() as book:
            self._prepare(book)
            self._clear(book)
            book.db.commit()
        if self._feedback:
            remove_feedback(self._feedback)

    def write(self, record: Record, scores: Mapping[str, float | None] | None = None) -> None:
        """Writes the marks of a record, all of them or none.

        A part that the grader could not judge gets no mark and waits for a person. Marks given by hand in nbgrader
        stay, as nbgrader does it, and are flagged for review.

        Args:
            record: of the student's submission.
            scores: by the task's number, with points that a person gave; None = the record's.
        """
        if scores is None:
            scores = {part.number: part.score for part in record.judgement.parts}
        by_cell = {test_cell(number): score for number, score in scores.items()}
        with errors_in_one_line(self.target), self._connect() as book:
            for grade in self._clear(book):
                score = by_cell.get(grade.cell.name)
                if score is not None:
                    # nbgrader allows no more than the cell's points; a bonus has points in the cell, too.
                    grade.auto_score = min(float(score), grade.cell.max_score)
                    grade.needs_manual_grade = grade.manual_score is not None
            book.db.commit()

    def write_feedback(self, record: Record, intake: Intake | None) -> None:
        """Writes notebooks with answers and messages to the place that nbgrader makes feedback from.

        Without a course's folder there is no such place, and nothing is written.
        """
        if self._feedback:
            write_feedback(self._feedback, self.notebooks, record, intake)

    @property
    def _feedback(self) -> Path | None:
        course = self.target.course
        return course / "autograded" / self.student / self.name if course else None

    def _connect(self) -> Any:
        from nbgrader.api import Gradebook as Book  # imported here, since nbgrader takes a second to load

        # nbgrader starts `alembic` by name when it creates a database.
        programs = str(Path(sys.executable).parent)
        if programs not in os.environ.get("PATH", "").split(os.pathsep):
            os.environ["PATH"] = os.pathsep.join(filter(None, (programs, os.environ.get("PATH", ""))))
        logging.getLogger("traitlets").setLevel(logging.CRITICAL)  # it also raises what it logs
        return Book(self.target.url)

    def _prepare(self, book: Any) -> None:
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

    def _clear(self, book: Any) -> list[Any]:
        """Withdraws all automatic marks, without committing; returns nbgrader's grades."""
        grades = [
            book.find_grade(cell.name, cell.notebook, self.name, self.student)
            for cell in self.cells
            if cell.points is not None
        ]
        for grade in grades:
            grade.auto_score, grade.needs_manual_grade = None, True
        return grades
