"""All pages of a class into a folder, each whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

import jinja2

from foundation.assignment_file import Assignment
from foundation.whole_files import write_whole

from ...classroom.entries import Roll
from ...classroom.marks import Result
from ...diagnosis.catalogue import Fault
from .. import html
from ..class_summary import records_of
from .class_page import class_view, roll_view
from .student_page import student_view

TEMPLATES = Path(__file__).parent / "templates"
STUDENTS, CLASS, SIMILAR = "students", "class.html", "similar.html"


def write_pages(
    roll: Roll, results: Sequence[Result], assignment: Assignment, catalogue: Mapping[str, Fault], output: Path
) -> None:
    """Writes `class.html`, and `students/KEY.html` for each submission; at least one has been graded."""
    records = records_of(results)
    shared = {key: [result for result in results if result.member.key == key] for key in records}
    names = roll.names()
    late = {result.member.key for result in results if result.is_late}
    (output / STUDENTS).mkdir(exist_ok=True)
    for key, record in records.items():
        view = student_view(record, assignment, shared[key])
        write_page("student.html", output / STUDENTS / f"{key}.html", view, name=names[key], is_late=key in late)
    graded = {key: {"name": names[key], "record": record, "is_late": key in late} for key, record in records.items()}
    view = {**class_view(records, shared, assignment, catalogue), **roll_view(roll)}
    write_page("class.html", output / CLASS, view, graded=graded, pages=pages_of(records, output), **others_in(output))


def write_page(template: str, path: Path, view: Mapping[str, object], **more: object) -> None:
    """Writes what a template makes of a view."""
    write_whole(path, make_environment().get_template(template).render(view, **more))


def pages_of(keys: Iterable[str], output: Path) -> dict[str, str]:
    """Links to the students' pages that there are, by the submission's key."""
    return {key: f"{STUDENTS}/{quote(key)}.html" for key in keys if (output / STUDENTS / f"{key}.html").is_file()}


def others_in(output: Path) -> dict[str, bool]:
    """Which pages of the class there are to link to."""
    pages = {"class": CLASS, "similar": SIMILAR}
    return {f"has_{name}_page": (output / file).is_file() for name, file in pages.items()}


@cache
def make_environment() -> jinja2.Environment:
    """The templates of these pages."""
    return html.make_environment(TEMPLATES, points=lambda value: f"{value:.2f}".rstrip("0").rstrip("."))
