"""Canvas's gradebook: Grades > Import, and for feedback Assignment > Upload submissions.

Canvas finds students by ID (its own number), else by SIS User ID, SIS Login ID or name, and the assignment by a
heading `Title (number)` or its title; for any other heading it makes a new assignment. It reads these columns in this
order (`lib/gradebook_importer.rb` in instructure/canvas-lms). An empty cell would remove a mark that somebody has given
by hand, so students without a score are left out. Feedback files are attached to the submission whose file's name they
begin with (`infer_comment_context_from_filename`), and shown under that file's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foundation.counting import first_of
from foundation.printable_text import printable

from ...classroom.downloads.platforms import CANVAS_FILE
from ..spreadsheets import as_score
from .marks import About, Mark, Table

STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
ASSIGNMENT = re.compile(r"(?P<title>.+) \(\d+\)", re.DOTALL)
MOST_HEADINGS = 5
IDS = {"ID": "canvas", "SIS User ID": "number", "SIS Login ID": "login"}


def table(marks: Sequence[Mark], about: About) -> Table:
    """The gradebook with one assignment."""
    column, doubt = (about.column, "") if about.column else column_in(marks, about.title)
    rows = [{"Student": "    Points Possible", column: as_score(about.max_score)}]
    unknown, has_roster = [], any(mark.row for mark in marks)
    for mark in marks:
        if mark.result.score is None:
            continue
        if has_roster and not mark.row and "canvas" not in mark.ids:  # a login of elsewhere may be somebody else's here
            unknown.append(mark.name_and_id)
            continue
        cells = {heading: mark.row.get(heading, "") or mark.ids.get(kind, "") for heading, kind in IDS.items()}
        if not any(cells.values()):
            unknown.append(mark.name_and_id)
        about_student = {"Student": mark.row.get("Student") or mark.name, "Section": mark.row.get("Section", "")}
        rows.append({**about_student, **cells, column: as_score(mark.result.score)})
    return Table((*STUDENT, column), rows, unknown, about.other_points([about.points.get(column, "")]), doubt)


def column_in(marks: Sequence[Mark], title: str) -> tuple[str, str]:
    """The assignment's heading in Canvas's own export, or else its title; and why that may be the wrong column."""
    found = (ASSIGNMENT.fullmatch(heading) for heading in dict.fromkeys(name for mark in marks for name in mark.row))
    titles = {one[0]: one["title"] for one in found if one}
    same = [heading for heading, one in titles.items() if one == title]
    if len(same) == 1 or not titles:
        return (*same, title)[0], ""
    likely = same or sorted(titles, key=lambda heading: title.casefold() not in heading.casefold())
    shown = first_of([repr(printable(heading, 60)) for heading in likely], MOST_HEADINGS)
    doubt = "more than one column" if same else "no column"
    return (
        title,
        f"{doubt} of the gradebook is {title!r} and its number: name the one that is meant with --column: {shown}",
    )


def feedback_file(mark: Mark) -> str | None:
    """The beginning of the name of the student's file; None where the download was not Canvas's."""
    found = CANVAS_FILE.fullmatch(mark.result.member.file)
    return f"{found[0][: found.start('file')]}feedback.html" if found else None
