"""Students, from the CSV file that a learning platform exports, or a plain one with id, name and e-mail."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from foundation.printable_text import printable

from .handed_in import DownloadError

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "full name", "student"),
    "first": ("first name", "first_name", "firstname", "given name"),
    "last": ("last name", "last_name", "surname", "family name", "lastname"),
    "email": ("email", "email address", "e-mail", "e-mail address", "mail"),
    "number": ("sis user id", "sid", "student id", "student_id", "id number", "matriculation number"),
    "login": ("sis login id", "login", "login id", "username", "identifier"),
    "moodle": ("participant",),
    "canvas": ("canvas id", "canvas_id"),
    "github": ("github_username", "github username", "github"),
    "role": ("role",),
    "group": ("group", "group_name", "group name", "groups"),
    "id": ("id",),
}
"""What a column means, by its heading in lower case."""
POINTS = "Points Possible"
"""In the place of a name: what Canvas's assignments are worth."""
SUFFIXES = {"jr", "sr", "ii", "iii", "iv"}
"""What may follow a comma without being a first name."""
IDS = ("canvas", "moodle", "number", "login", "github", "email")


@dataclass(frozen=True, eq=False)
class Student:
    """One line of the roster.

    Attributes:
        id: by which the course knows the student; unique.
        name: first name first where the roster tells them apart; the id where it has no name.
        ids: kind -> value, as in `Person`.
        group: whose marks the student shares; "" = none.
        row: the line as it stands, by heading.
    """

    id: str
    name: str
    ids: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    row: Mapping[str, str] = field(default_factory=dict)

    @property
    def email(self) -> str:
        """The e-mail address; "" where the roster has none."""
        return self.ids.get("email", "")


def read_roster(path: Path) -> tuple[Student, ...]:
    """Reads a roster: UTF-8, with a heading; fields separated by commas, semicolons or tabs.

    Raises:
        DownloadError: naming the line, and what would be right.
    """
    rows = rows_of(path)
    columns = columns_of(rows[0] if rows else [])
    if not {"name", "first", "last"} & columns.keys() and not {*IDS, "id"} & columns.keys():
        shown = ", ".join(printable(name, 30) for name in (rows[0] if rows else [])[:6])
        instead = f"not {shown}" if shown else "but there is no heading"
        raise DownloadError(f"{path}:1: no column with names or ids; expected id, name, email, …, {instead}")
    students: dict[str, Student] = {}
    for number, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row[len(rows[0]) :]):
            what = f"{len(row)} cells where the heading has {len(rows[0])}; put cells with a comma in quotes"
            raise DownloadError(f"{path}:{number}: {what}")
        cells = {kind: row[at].strip() for kind, at in columns.items() if at < len(row)}
        student = student_of(cells, dict(zip(rows[0], row, strict=False)))
        if student is None:
            continue
        if student.id in students:
            raise DownloadError(f"{path}:{number}: {printable(student.id, 60)} is there twice; keep one line")
        students[student.id] = student
    if not students:
        raise DownloadError(f"{path}: no students in it; expected a line each below the heading")
    return tuple(students.values())


def read_points(path: Path) -> dict[str, str]:
    """What each assignment is worth, by its column, in an export of Canvas's gradebook; empty in other rosters.

    Raises:
        DownloadError: as `read_roster`.
    """
    rows = rows_of(path)
    found = (row for row in rows[1:] if row and row[0].strip() == POINTS)
    return dict(zip(rows[0], next(found, []), strict=False)) if rows else {}


def rows_of(path: Path) -> list[list[str]]:
    """The lines of a table, in UTF-8, separated by commas, semicolons or tabs.

    Raises:
        DownloadError: where it cannot be read as one.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DownloadError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DownloadError(f"{path}: not UTF-8; export it again as CSV in UTF-8") from None
    heading, _, _ = text.partition("\n")
    delimiter = max(",;\t", key=heading.count)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise DownloadError(f"{path}: not valid CSV: {error}") from None


def columns_of(heading: list[str]) -> dict[str, int]:
    """Which column holds what; the first of several counts."""
    plain = [" ".join(name.strip().lower().split()) for name in heading]
    found = {}
    for kind, names in COLUMNS.items():
        if at := [plain.index(name) for name in names if name in plain]:
            found[kind] = at[0]
    if "id" in found and {"sis user id", "sis login id"} & {*plain}:
        found["canvas"] = found.pop("id")  # the gradebook of Canvas has its own number there
    return found


def student_of(cells: Mapping[str, str], row: Mapping[str, str]) -> Student | None:
    """The student of a line; None for an empty line and for lines that are not about students, but staff or points.

    Args:
        cells: by kind, as in COLUMNS.
        row: the same line by heading.
    """
    name, first, last = (cells.get(kind, "") for kind in ("name", "first", "last"))
    if name in (POINTS, "Student, Test") or cells.get("role", "student").casefold() not in ("student", ""):
        return None
    ids = {kind: cells[kind] for kind in IDS if cells.get(kind)}
    if ids.get("login", "").startswith("Participant "):  # Moodle's grading worksheet
        ids["moodle"] = ids.pop("login").removeprefix("Participant ").strip()
    if "@" in ids.get("login", ""):  # GitHub Classroom's identifier may be an e-mail address
        ids.setdefault("email", ids["login"])
    if not name:
        name = f"{first} {last}".strip()
    elif "," in name:
        last, _, first = (part.strip() for part in name.rpartition(","))
        name = f"{first} {last}" if first.casefold().rstrip(".") not in SUFFIXES else name
    own = cells.get("id") or next((ids[kind] for kind in ("number", "login", "email", *IDS) if kind in ids), name)
    if not own:
        return None
    ids.setdefault("login", own)
    return Student(own, name or own, ids, cells.get("group", ""), row)
