"""Canvas.

Its download has loose files, `NAME_LATE_USER_UPLOAD_FILE` with the lower-case name, the user's and the upload's number.

Of names, Canvas keeps letters of any script with their accents and vowel signs, which need not be one character, and
leaves out spaces and punctuation (`sanitize_file_name` in `lib/content_zipper.rb` of instructure/canvas-lms). `LATE_`
stands there only for late submissions; under anonymous grading NAME is missing and the user is `anon_…`. A text entry
ends with `_text.html`, a URL with `_link.html`. Canvas hands out the last attempt of each student only.

The gradebook: Grades > Import, and for feedback Assignment > Upload submissions.

Canvas finds students by ID (its own number), else by SIS User ID, SIS Login ID or name, and the assignment by a
heading `Title (number)` or its title; for any other heading it makes a new assignment. It reads these columns in
this order (`lib/gradebook_importer.rb` in instructure/canvas-lms). An empty cell would remove a mark that somebody
has given by hand, so students without a score are left out. Feedback files are attached to the submission whose
file's name they begin with (`infer_comment_context_from_filename`), and shown under that file's name.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from foundation.texts import as_score

from .platform import POINTS_POSSIBLE, Grade, HandedIn, Person, Student, Table, heading_in, known_by_names, table_of

FILE = re.compile(
    r"(?:(?P<name>(?!LATE_|anon_)(?:[0-9A-Za-z_]|[^\x00-\x7f])+?)_)?(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)"
    r"_(?:(?P<upload>\d+)_(?P<file>.+)|(?P<kind>text|link)\.html)",
    re.DOTALL,
)
EXAMPLE = "smithanna_11_70_layers.py"
REASONS = {"text": "a text entry", "link": "a link to a web page"}
IDS = {"ID": "canvas", "SIS User ID": "number", "SIS Login ID": "login"}
STUDENT = ("Student", *IDS, "Section")
ASSIGNMENT = re.compile(r"(?P<title>.+) \(\d+\)", re.DOTALL)


def _describe(folder: Path, match: re.Match[str]) -> HandedIn:
    name, user = match["name"] or "", match["user"]
    person = Person(name, {} if user.startswith("anon_") else {"canvas": user}, is_plain=True)
    entry = f"{name}_{user}".lstrip("_")
    return HandedIn(entry, folder / match[0], (person,), entry, is_late=bool(match["late"]))


def _table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    column, doubt = heading_in(grades, column, ASSIGNMENT)

    def row(grade: Grade) -> dict[str, str]:
        student = grade.student
        cells = {heading: student.row.get(heading, "") or student.ids.get(kind, "") for heading, kind in IDS.items()}
        about = {"Student": student.row.get("Student") or student.name, "Section": student.row.get("Section", "")}
        return {**about, **cells, column: as_score(grade.score) or "EX"} if any(cells.values()) else {}

    points = {"Student": f"    {POINTS_POSSIBLE}", column: as_score(max_score)}
    theirs = next(filter(None, (grade.student.row.get(column + POINTS_POSSIBLE) for grade in grades)), "")
    is_other = theirs.replace(".", "", 1).isdecimal() and float(theirs) != max_score
    note = f"its assignment has {theirs} points, and {as_score(max_score)} here: correct it there first" * is_other
    return table_of(grades, (*STUDENT, column), row, [points], takes_excused=True, doubt=doubt, note=note)


def _feedback(student: Student) -> str | None:
    """The beginning of the name of the student's file; None where the download was not Canvas's."""
    match = FILE.fullmatch(student.file)
    return f"{match[0][: match.start('file')]}feedback.html" if match else None


CANVAS = known_by_names("Canvas", FILE, _describe, REASONS, example=EXAMPLE, table=_table, feedback=_feedback)
