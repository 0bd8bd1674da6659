"""Students, from the CSV file that a learning platform exports, or a plain one with id, name and e-mail."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from foundation.command_line import UserError
from foundation.texts import printable

from ..platforms.download import PLATFORMS
from ..platforms.handed_in import read_time

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "full name", "student"),
    "first": ("first name", "first_name", "firstname", "given name"),
    "last": ("last name", "last_name", "surname", "family name", "lastname"),
    "email": ("email", "email address", "e-mail", "e-mail address", "mail"),
    "number": ("sis user id", "sid", "student id", "student_id", "id number", "matriculation number"),
    "login": ("sis login id", "login", "login id", "username", "identifier"),
    "role": ("role",),
    "group": ("group", "group_name", "group name", "groups"),
    "submitted": ("last modified (submission)",),
    "status": ("status",),
    "id": ("id",),
    **{kind: headings for platform in PLATFORMS.values() for kind, headings in platform.ids.items()},
}
"""The headings of each kind of column, in lower case; of several, the first that is there counts."""
NOT_STUDENTS = frozenset().union(*(platform.not_students for platform in PLATFORMS.values()))
PREFIXES = {kind: text for platform in PLATFORMS.values() for kind, text in platform.prefixes.items()}
ROUNDED = re.compile(r"\d(?:[.,]\d+)?E\+\d+", re.IGNORECASE)
"""The form that a spreadsheet gives to a number of many digits."""
IDS = (*(kind for platform in PLATFORMS.values() for kind in platform.ids), "number", "login", "email")


@dataclass(frozen=True, eq=False)
class Student:
    """One line of the roster."""

    id: str  # by which the course knows the student; unique
    name: str  # first name first where the roster separates them; the id where it has no name
    ids: Mapping[str, str] = field(default_factory=dict)  # kind -> value, as in `Person`
    group: str = ""  # whose marks the student shares; "" = none
    row: Mapping[str, str] = field(default_factory=dict)  # the line as it stands, by heading
    submitted: datetime | None = None  # by Moodle's worksheet, without a zone; None = not there
    is_late: bool | None = None  # likewise
    unread_time: str = ""  # why that time cannot be read; "" where it can, or there is none


def read_roster(path: Path) -> tuple[Student, ...]:
    """Reads a roster: UTF-8, with a heading; fields separated by commas, semicolons or tabs.

    Raises: UserError, which names the line, and what would be right.
    """
    (_, heading), *rows = rows_of(path) or [(1, [])]
    columns = columns_of(heading)
    if not {"name", "first", "last", *IDS, "id"} & columns.keys():
        shown = ", ".join(printable(name, 30) for name in heading[:6]) or "an empty line"
        raise UserError(f"{path}:1: no column with names or ids; expected id, name, email, …, not {shown}")
    students: dict[str, Student] = {}
    for number, row in rows:
        if any(cell.strip() for cell in row[len(heading) :]):
            cells_here = f"{len(row)} cells where the heading has {len(heading)}"
            raise UserError(f"{path}:{number}: {cells_here}; put cells with a comma in quotes")
        cells = {kind: row[at].strip() if at < len(row) else "" for kind, at in columns.items()}
        if rounded := next((cells[kind] for kind in ("id", *IDS) if ROUNDED.fullmatch(cells.get(kind, ""))), ""):
            remedy = "export the roster again, and open it in an editor only"
            raise UserError(f"{path}:{number}: {rounded} is rounded by a spreadsheet; {remedy}")
        student = student_of(cells, dict(zip(heading, row, strict=False)))
        if student is None:
            continue
        if student.id in students:
            raise UserError(f"{path}:{number}: {printable(student.id, 60)} is there twice; keep one line")
        students[student.id] = student
    if not students:
        raise UserError(f"{path}: no students in it; expected a line each below the heading")
    return tuple(students.values())


def rows_of(path: Path) -> list[tuple[int, list[str]]]:
    """The rows of a table, and the lines that they begin in, with the separator by which most columns are known.

    Raises: UserError where it cannot be read.
    """
    try:
        content = path.read_bytes()
        is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # Blackboard's
        text = content.decode("utf-16" if is_utf16 else "utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8; export it again as CSV in UTF-8") from None

    def known(delimiter: str) -> tuple[int, int]:
        heading: list[str] = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
        return len(columns_of(heading)), len(heading)

    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=known), strict=True)
        rows, line = [], 1
        for row in reader:
            rows.append((line, row))
            line = reader.line_num + 1
        return rows
    except csv.Error as error:
        raise UserError(f"{path}: not valid CSV: {error}") from None


def columns_of(heading: list[str]) -> dict[str, int]:
    """The places of columns, by kind."""
    plain = [" ".join(name.lower().split()) for name in heading]
    own = next((platform.columns for platform in PLATFORMS.values() if platform.marks_roster & {*plain}), {})
    places = {
        kind: [*map(plain.index, (name for name in names if name in plain))]
        for kind, names in {**COLUMNS, **own}.items()
    }
    return {kind: at[0] for kind, at in places.items() if at}


def student_of(cells: Mapping[str, str], row: Mapping[str, str]) -> Student | None:
    """The student of a line, from its cells by kind; None for an empty line, and for staff or points."""
    name, first, last = (cells.get(kind, "") for kind in ("name", "first", "last"))
    if name in NOT_STUDENTS or cells.get("role", "student").casefold() not in ("student", ""):
        return None
    ids = {kind: cells[kind].removeprefix(PREFIXES.get(kind, "")).strip() for kind in IDS if cells.get(kind)}
    first_id = next((ids[kind] for kind in ("number", "login", "email", *IDS) if kind in ids), "")
    if "@" in ids.get("login", ""):  # GitHub Classroom's identifier may be an e-mail address
        ids.setdefault("email", ids["login"])
    if not name:
        name = f"{first} {last}".strip()
    elif "," in name:
        last, _, first = (part.strip() for part in name.rpartition(","))
        name = f"{first} {last}"
    own = cells.get("id") or first_id or name
    if not own:
        return None
    ids.setdefault("login", own)
    written = cells.get("submitted", "").strip("-")
    time = read_time(written)
    return Student(
        own,
        name or own,
        ids,
        cells.get("group", ""),
        row,
        submitted=time.replace(tzinfo=None) if time else None,
        is_late=(cells.get("status", "").endswith(" late") or None) if written else None,
        unread_time=f"{printable(written, 40)!r} in the worksheet" if written and time is None else "",
    )
