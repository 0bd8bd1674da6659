"""Our marks in nbgrader's gradebook, for its formgrader, feedback and export.

nbgrader's own autograding runs submitted code beside its database; these marks come from the sandbox. Feedback is made
from the notebooks that were handed out: the text of answers is put into the cells of the release, and neither outputs
nor metadata of the student's own notebooks are used.
"""

import ast
import html
import json
import logging
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError
from foundation.places import ROOT
from foundation.texts import printable
from foundation.whole_files import write_whole

from ..classroom.marks import Mark
from ..grading.record import Part
from ..intake.sources import parse
from ..intake.submission import Intake
from ..platforms.platform import Student
from .terminal import text_of

HANDED_OUT = ROOT / "notebooks" / "release"
"""The students' notebooks, by nbgrader's name of the assignment."""
STUDENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,127}")  # an id, which becomes a folder's name
DEFINITION = re.compile(r"^(?:class|def) (\w+)", re.MULTILINE)
WIDTH = 100  # of a line in a page of nbgrader, which cuts longer ones
MISSING = "# The submission has no definition of {name}."

Json = dict[str, Any]  # a notebook, or a cell, as nbformat defines it


class Gradebook:
    """nbgrader's gradebook, for the submissions of one assignment; students by their ids there."""

    def __init__(self, text: str, assignment: Assignment) -> None:
        """Reads the notebooks. Raises: UserError where the text names no course, or their points are others."""
        self.course = Path(text)
        if not (self.course / "nbgrader_config.py").is_file():
            why = "is not an nbgrader course (it has no nbgrader_config.py); expected a folder such as notebooks"
            raise UserError(f"--to-nbgrader {printable(text)}: {why}")
        self.name = read_assignment().name
        paths = sorted((HANDED_OUT / self.name).glob("*.ipynb"))
        if not paths:
            raise UserError(f"{HANDED_OUT / self.name}: there are no notebooks: run make release")
        self.notebooks: dict[str, Json] = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}
        self.tests: dict[str, str] = {}  # the notebook of each test cell
        points = {}
        for stem, _, marks in self._cells():
            if marks["grade"]:
                self.tests[marks["grade_id"]] = stem
                points[marks["grade_id"]] = float(marks["points"])
        for task in (task for task in assignment.tasks if not task.by_hand or task.written):
            if (other := points.get(_test_cell(task.number))) != task.points:
                difference = f"task {task.number} has {task.points:g} points, but {other} in the notebooks"
                raise UserError(f"{difference}: run make release, so that they agree")

    def _cells(self) -> Iterator[tuple[str, Json, Json]]:
        """The test cells and the answer cells: the notebook, the cell, and nbgrader's metadata of it."""
        for stem, notebook in self.notebooks.items():
            for cell in notebook["cells"]:
                marks = cell["metadata"].get("nbgrader", {})
                if marks.get("grade") or marks.get("solution"):
                    yield stem, cell, marks

    def write(self, student: str, mark: Mark, intake: Intake | None, member: Student | None = None) -> None:
        """Writes the points of all parts or none, and the notebooks that nbgrader makes feedback from.

        They replace those of an earlier run. A part without points waits for a person, and all parts do where it is
        not known what lateness costs. A bonus is extra credit; what lateness costs is nbgrader's penalty. Marks given
        by hand in nbgrader stay, as nbgrader does it, and are flagged for review. `intake` is None where the
        submission cannot be read; `member` has the student's name and time, for nbgrader's lists.
        """
        parts = {_test_cell(part.part.number): part.part for part in mark.parts}
        scores = {_test_cell(part.part.number): part.score for part in mark.parts}
        whole = mark.by_hand.value if mark.by_hand and not mark.excused else None
        if mark.lateness.unknown or mark.excused or mark.by_hand:
            scores = dict.fromkeys(scores, None if whole is None else 0.0)
        with self._connected() as book:
            self._prepare(book, {name for name, part in parts.items() if part.extension})
            known = book.update_or_create_student(student)
            submission = book.update_or_create_submission(self.name, student)
            if member:
                _introduce(known, member)
                if member.submitted:
                    time = member.submitted.astimezone(UTC) if member.submitted.tzinfo else member.submitted
                    submission.timestamp = time.replace(tzinfo=None)
            for name, stem in self.tests.items():
                grade, score = book.find_grade(name, stem, self.name, student), scores.get(name)
                is_bonus = score is not None and parts[name].extension
                # nbgrader allows no more than the cell's points
                grade.auto_score = None if score is None else min(float(score), grade.cell.max_score)
                grade.extra_credit = float(score) if score is not None and is_bonus else None
                grade.needs_manual_grade = score is None or grade.manual_score is not None
                if whole is not None and name == _test_cell(mark.parts[0].part.number):
                    grade.extra_credit = whole
            book.db.commit()
            percent = 0.0 if mark.by_hand else mark.lateness.percent
            for number, theirs in enumerate(submission.notebooks):
                theirs.late_submission_penalty = 0.0 if number else round(submission.score * percent / 100, 2)
            book.db.commit()
        answers, written = (_answers_in(intake), intake.answers) if intake else ({}, "")
        folder = self.course / "autograded" / student / self.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for stem, notebook in self.notebooks.items():
            cells = [_filled(cell, answers, parts, written) for cell in notebook["cells"]]
            text = json.dumps({**notebook, "cells": cells}, indent=1, ensure_ascii=False) + "\n"
            write_whole(folder / f"{stem}.ipynb", text)

    def take_back(self, students: Iterable[str]) -> list[str]:
        """Takes marks of an earlier run from those who have none any more; the students whose marks were there."""
        from nbgrader.api import MissingEntry

        taken = []
        with self._connected() as book:
            for student in students:
                try:
                    submission = book.find_submission(self.name, student)
                except MissingEntry:
                    continue
                grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
                if any(grade.auto_score is not None for grade in grades):
                    taken.append(student)
                for grade in grades:
                    grade.auto_score, grade.extra_credit, grade.needs_manual_grade = None, None, True
                for notebook in submission.notebooks:
                    notebook.late_submission_penalty = 0.0
            book.db.commit()
        return taken

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """The open gradebook; an error of its database becomes one line for the operator."""
        from sqlalchemy.exc import SAWarning, SQLAlchemyError

        try:
            from nbgrader.api import Gradebook as Book  # imported here, since nbgrader takes a second to load

            # nbgrader starts `alembic` by name when it creates a database.
            programs = str(Path(sys.executable).parent)
            if programs not in os.environ.get("PATH", "").split(os.pathsep):
                os.environ["PATH"] = os.pathsep.join(filter(None, (programs, os.environ.get("PATH", ""))))
            logging.getLogger("traitlets").setLevel(logging.CRITICAL)  # it also raises what it logs
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SAWarning)  # caused by nbgrader itself
                with Book(f"sqlite:///{(self.course / 'gradebook.db').resolve()}") as book:
                    yield book
        except (SQLAlchemyError, ValueError, ImportError) as error:
            cause = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
            raise UserError(f"gradebook {self.course}: {cause}") from None

    def _prepare(self, book: Any, bonus: Collection[str]) -> None:
        book.update_or_create_assignment(self.name)
        for notebook in self.notebooks:
            book.update_or_create_notebook(notebook, self.name)
        for stem, cell, marks in self._cells():
            name = marks["grade_id"]
            if marks["grade"]:
                more = {"max_score": 0.0 if name in bonus else float(marks["points"]), "cell_type": cell["cell_type"]}
                book.update_or_create_grade_cell(name, stem, self.name, **more)
            if marks["solution"]:
                book.update_or_create_solution_cell(name, stem, self.name)


def _introduce(student: Any, member: Student) -> None:
    """Gives a student of nbgrader, who has no name there, the course's; its export writes commas as they are."""
    if not (student.first_name or student.last_name) and member.name != member.id:
        *first, student.last_name = member.name.replace(",", " ").split() or [""]
        student.first_name = " ".join(first)
    student.email = student.email or member.ids.get("email")


def _test_cell(number: str) -> str:
    return "test_" + number.replace(".", "_").lower()


def _answers_in(intake: Intake) -> dict[str, str]:
    """The text of every class and function at the top level of the graded modules, by name."""
    answers: dict[str, str] = {}
    for module in sorted(intake.submitted):
        text = intake.sources[module][1]
        tree = parse(text)
        lines = text.split("\n")
        for node in tree.body if isinstance(tree, ast.Module) else ():
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                answers[node.name] = "\n".join(lines[first - 1 : node.end_lineno])  # the last one counts
    return answers


def _filled(cell: Json, answers: dict[str, str], parts: dict[str, Part], written: str) -> Json:
    marks = cell["metadata"].get("nbgrader", {})
    name = marks.get("grade_id", "")
    if marks.get("solution") and cell["cell_type"] == "markdown":
        # As plain text: markup could hold scripts, which pages of nbgrader run.
        shown = f'<pre style="white-space: pre-wrap">{html.escape(written)}</pre>'
        return {**cell, "source": shown if written else "Nothing is written here."}
    if marks.get("solution"):
        definition = DEFINITION.search("".join(cell["source"]))
        defined = definition[1] if definition else name
        return {**cell, "source": answers.get(defined, MISSING.format(name=defined))}
    if name in parts:
        part = parts[name]
        points = "no mark yet" if part.score is None else f"{part.score:g} of {part.points:g} points"
        lines = f"{part.state}: {points}\n\n{text_of(part)}".strip().split("\n")
        shown = "".join(textwrap.fill(line, WIDTH, subsequent_indent="  ") + "\n" for line in lines)
        return {**cell, "outputs": [{"output_type": "stream", "name": "stdout", "text": shown}], "execution_count": 1}
    return cell
