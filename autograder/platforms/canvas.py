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

from __future__ import annotations

import re
from collections.abc import Sequence

from foundation.texts import as_score

from .platform import (
    Grade,
    HandedIn,
    Listing,
    Person,
    Platform,
    Read,
    Stray,
    Table,
    gather,
    grouped,
    heading_in,
    is_mostly,
)

OWNER = r"(?:(?P<name>(?!LATE_|anon_)(?:[0-9A-Za-z_]|[^\x00-\x7f])+?)_)?(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)"
FILE = re.compile(OWNER + r"_(?P<upload>\d+)_(?P<file>.+)", re.DOTALL)
TEXT = re.compile(OWNER + r"_(?P<kind>text|link)\.html")
NO_FILE = {"text": "a text entry, which only a person can read"}
NO_FILE |= {"link": "a link to a web page, which only a person can read"}
IDS = {"ID": "canvas", "SIS User ID": "number", "SIS Login ID": "login"}
STUDENT = ("Student", *IDS, "Section")
ASSIGNMENT = re.compile(r"(?P<title>.+) \(\d+\)", re.DOTALL)


def _read(listing: Listing) -> Read:
    files, others = grouped(listing.files, FILE, "user")
    strays = [Stray(name, "a folder; Canvas hands out files") for name in listing.folders]
    for name in others:
        text = TEXT.fullmatch(name)
        strays.append(Stray(name, NO_FILE[text["kind"]] if text else "not named as Canvas names submissions"))
    submissions = []
    for user, uploads in files.items():
        ids = {} if user.startswith("anon_") else {"canvas": user}
        person = Person(uploads[0]["name"] or "", ids, is_plain=True)
        entry = f"{person.name}_{user}".lstrip("_")
        loose = [(upload["file"], int(upload["upload"]), upload[0]) for upload in uploads]
        is_late = any(upload["late"] for upload in uploads)
        last = max(loose, key=lambda file: file[1])[2]
        source = gather(entry, listing.path, loose)
        submissions.append(HandedIn(entry, source, (person,), entry, is_late, file=last))
    return submissions, strays


def _table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    column, doubt = heading_in(grades, column, ASSIGNMENT)
    rows = [{"Student": "    Points Possible", column: as_score(max_score)}]
    unknown, has_roster = [], any(grade.row for grade in grades)
    for grade in (grade for grade in grades if grade.score is not None or grade.is_excused):
        if has_roster and not grade.row and "canvas" not in grade.ids:  # another host's login may be another's here
            unknown.append(grade.called)
            continue
        cells = {heading: grade.row.get(heading, "") or grade.ids.get(kind, "") for heading, kind in IDS.items()}
        if not any(cells.values()):
            unknown.append(grade.called)
        cells |= {"Student": grade.row.get("Student") or grade.name, "Section": grade.row.get("Section", "")}
        rows.append({**cells, column: as_score(grade.score) or "EX"})
    return Table((*STUDENT, column), rows, unknown, doubt=doubt)


def _feedback(grade: Grade) -> str | None:
    """The beginning of the name of the student's file; None where the download was not Canvas's."""
    match = FILE.fullmatch(grade.file)
    return f"{match[0][: match.start('file')]}feedback.html" if match else None


CANVAS = Platform(
    "Canvas",
    lambda listing: is_mostly(listing, FILE, TEXT),
    _read,
    ids={"canvas": ("canvas id", "canvas_id")},
    marks_roster=frozenset({"sis user id", "sis login id"}),
    columns={"canvas": ("id",), "id": ()},
    not_students=frozenset({"Points Possible", "Student, Test"}),
    table=_table,
    feedback=_feedback,
)
