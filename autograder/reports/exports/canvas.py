"""Canvas's gradebook: Grades > Import, and for feedback Assignment > Upload submissions.

Canvas finds students by ID (its own number), else by SIS User ID, SIS Login ID or name, and the assignment by a
heading `Title (number)` or its title. It reads these columns in this order (`lib/gradebook_importer.rb` in
instructure/canvas-lms). An empty cell would remove a mark that somebody has given by hand, so students without a score
are left out. Feedback files are attached to the submission whose file's name they begin with
(`infer_comment_context_from_filename`), and shown under that file's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...classroom.downloads.canvas import FILE
from ..spreadsheets import as_score
from .marks import About, Mark, Table

STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
IDS = {"ID": "canvas", "SIS User ID": "number", "SIS Login ID": "login"}


def table(marks: Sequence[Mark], about: About) -> Table:
    """The gradebook with one assignment."""
    column = about.column or column_in(marks, about.title)
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
    return Table((*STUDENT, column), rows, unknown, about.other_points([about.points.get(column, "")]))


def column_in(marks: Sequence[Mark], title: str) -> str:
    """The assignment's heading in Canvas's own export, where one begins with its title; otherwise the title."""
    pattern = re.compile(re.escape(title) + r" \(\d+\)")
    headings = {heading for mark in marks for heading in mark.row if pattern.fullmatch(heading)}
    return headings.pop() if len(headings) == 1 else title


def feedback_file(mark: Mark) -> str | None:
    """The beginning of the name of the student's file; None where the download was not Canvas's."""
    found = FILE.fullmatch(mark.result.member.file)
    return f"{found[0][: found.start('file')]}feedback.html" if found else None
