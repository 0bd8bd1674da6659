"""All pages of a class into a folder, each whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

import jinja2

from foundation.assignment_file import Assignment
from foundation.whole_files import write_whole

from ...classroom.results import Result, results_for
from ...classroom.roll import Roll
from ...diagnosis.catalogue import Fault
from ...grading.record import Record
from .. import environment
from .class_page import class_view, roll_view
from .student_page import student_view

TEMPLATES = Path(__file__).parent / "templates"
STUDENTS, CLASS, SIMILAR, TRANSLATED = "students", "class.html", "similar.html", "translated-again.html"


@dataclass(frozen=True)
class Graded:
    """A submission with its result.

    Attributes:
        key: unique, and a safe file name without its ending.
        name: for people.
        record: as graded.
        results: of the students who share it, with what people have decided.
        is_late: whether the platform says so.
    """

    key: str
    name: str
    record: Record
    results: tuple[Result, ...]
    is_late: bool = False


def graded_of(roll: Roll, results: Sequence[Result]) -> list[Graded]:
    """The graded submissions of a class, with the names of those who share them."""
    records = {result.member.key: result.record for result in results if result.record}
    late = {result.member.key for result in results if result.member.is_late}
    names = roll.names()
    return [Graded(key, names[key], record, results_for(key, results), key in late) for key, record in records.items()]


def write_pages(
    roll: Roll, results: Sequence[Result], assignment: Assignment, catalogue: Mapping[str, Fault], output: Path
) -> None:
    """Writes `class.html`, and `students/KEY.html` for each submission.

    Args:
        roll: of the class.
        results: of its students; at least one has been graded.
        assignment: its title and thresholds.
        catalogue: misconceptions by id.
        output: an existing folder.
    """
    by_key = {one.key: one for one in graded_of(roll, results)}
    templates = make_environment()
    pages = {key: f"{STUDENTS}/{quote(key)}.html" for key in by_key}
    student, of_class = (templates.get_template(name) for name in ("student.html", "class.html"))
    (output / STUDENTS).mkdir(exist_ok=True)
    for key, one in by_key.items():
        text = student.render(student_view(one.record, assignment, one.results), name=one.name, is_late=one.is_late)
        write_whole(output / STUDENTS / f"{key}.html", text)
    records = {key: one.record for key, one in by_key.items()}
    view = class_view(records, {key: one.results for key, one in by_key.items()}, assignment, catalogue)
    view |= {**roll_view(roll), "has_similar_page": (output / SIMILAR).is_file()}
    view["has_translated_page"] = (output / TRANSLATED).is_file()
    write_whole(output / CLASS, of_class.render(view, graded=by_key, pages=pages))


@cache
def make_environment() -> jinja2.Environment:
    """The templates of these pages."""
    return environment.make_environment(TEMPLATES, points=lambda value: f"{value:.2f}".rstrip("0").rstrip("."))
