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
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from foundation.texts import as_score

from ..classroom.handed_in import HandedIn, Listing, Person, Stray
from .platform import Platform, Read, Table, gather, heading_in, is_mostly

if TYPE_CHECKING:
    from ..reports.exports import Mark


OWNER = r"(?:(?P<name>(?!LATE_|anon_)(?:[0-9A-Za-z_]|[^\x00-\x7f])+?)_)?(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)"
CANVAS_FILE = re.compile(OWNER + r"_(?P<upload>\d+)_(?P<file>.+)", re.DOTALL)
CANVAS_TEXT = re.compile(OWNER + r"_(?P<kind>text|link)\.html")


def read_canvas(listing: Listing) -> Read:
    """Loose files, gathered by user."""
    files: dict[str, list[re.Match[str]]] = defaultdict(list)
    strays = [Stray(name, "a folder; Canvas hands out files") for name in listing.folders]
    for name in listing.files:
        if found := CANVAS_FILE.fullmatch(name):
            files[found["user"]].append(found)
        elif found := CANVAS_TEXT.fullmatch(name):
            what = "a text entry" if found["kind"] == "text" else "a link to a web page"
            strays.append(Stray(name, f"{what}, which only a person can read"))
        else:
            strays.append(Stray(name, "not named as Canvas names submissions"))
    submissions = []
    for user, uploads in files.items():
        ids = {} if user.startswith("anon_") else {"canvas": user}
        person = Person(uploads[0]["name"] or "", ids, is_plain=True)
        entry = f"{person.name}_{user}".lstrip("_")
        loose = [(found["file"], int(found["upload"]), found[0]) for found in uploads]
        is_late = any(found["late"] for found in uploads)
        last = max(loose, key=lambda file: file[1])[2]
        source = gather(entry, listing.path, loose)
        submissions.append(HandedIn(entry, source, (person,), entry, is_late, file=last))
    return submissions, strays


CANVAS_STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
CANVAS_IDS = {"ID": "canvas", "SIS User ID": "number", "SIS Login ID": "login"}
ASSIGNMENT = re.compile(r"(?P<title>.+) \(\d+\)", re.DOTALL)


def canvas_table(marks: Sequence[Mark], column: str, max_score: float) -> Table:
    """The gradebook with one assignment."""
    column, doubt = heading_in(marks, column, ASSIGNMENT)
    rows = [{"Student": "    Points Possible", column: as_score(max_score)}]
    unknown, has_roster = [], any(mark.row for mark in marks)
    for mark in marks:
        if mark.result.score is None and mark.result.status != "excused":
            continue
        if has_roster and not mark.row and "canvas" not in mark.ids:  # a login of elsewhere may be somebody else's here
            unknown.append(mark.result.member.called)
            continue
        cells = {heading: mark.row.get(heading, "") or mark.ids.get(kind, "") for heading, kind in CANVAS_IDS.items()}
        if not any(cells.values()):
            unknown.append(mark.result.member.called)
        cells |= {"Student": mark.row.get("Student") or mark.result.member.name, "Section": mark.row.get("Section", "")}
        rows.append({**cells, column: as_score(mark.result.score) or "EX"})
    return Table((*CANVAS_STUDENT, column), rows, unknown, doubt=doubt)


def canvas_feedback(mark: Mark) -> str | None:
    """The beginning of the name of the student's file; None where the download was not Canvas's."""
    found = CANVAS_FILE.fullmatch(mark.result.member.file)
    return f"{found[0][: found.start('file')]}feedback.html" if found else None


CANVAS = Platform(
    "Canvas",
    lambda listing: is_mostly(listing, CANVAS_FILE, CANVAS_TEXT),
    read_canvas,
    marks_roster=frozenset({"sis user id", "sis login id"}),
    columns={"canvas": ("id",), "id": ()},
    not_students=frozenset({"Points Possible", "Student, Test"}),
    table=canvas_table,
    feedback=canvas_feedback,
)
