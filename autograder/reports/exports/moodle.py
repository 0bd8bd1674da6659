"""Moodle's grading worksheet: Submissions > Upload grading worksheet, and Upload multiple feedback files in a zip.

Moodle finds students by Identifier, "Participant" and a number, and needs Grade and Last modified (grade), too; it
skips empty grades, those above the maximum, and, unless told otherwise, marks that were changed after the worksheet's
date (`mod/assign/feedback/offline` in moodle/moodle). Feedback comments are HTML there. A feedback file belongs to the
student whose number its name has in the second place (`mod/assign/feedback/file/importziplib.php`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from ..spreadsheets import as_score
from .marks import About, Mark, Table

HEADING = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Grade",
    "Maximum Grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
)
NEEDED = ("Identifier", "Grade", "Last modified (grade)")


def table(marks: Sequence[Mark], about: About) -> Table:
    """The worksheet: the one that was given as a roster, filled in, or else a new one."""
    given = next((tuple(mark.row) for mark in marks if all(column in mark.row for column in NEEDED)), None)
    rows, unknown = [], []
    for mark in marks:
        number, member = mark.ids.get("moodle", ""), mark.result.member
        if not number:
            unknown += [mark.name_and_id] if mark.result.score is not None else []
            continue
        row = {
            "Identifier": f"Participant {number}",
            "Full name": member.name,
            "Email address": mark.ids.get("email", ""),
            "Maximum Grade": as_score(about.max_score),
            "Grade can be changed": "Yes",
            "Last modified (submission)": "-",
            "Last modified (grade)": "-",
        }
        row |= mark.row if given else {}
        if mark.result.score is not None:
            row |= {"Grade": as_score(mark.result.score), "Feedback comments": html.escape(mark.comment, quote=False)}
        rows.append(row)
    maxima = dict.fromkeys(mark.row.get("Maximum Grade", "") for mark in marks)
    return Table(given or HEADING, rows, unknown, about.other_points(maxima))


def feedback_file(mark: Mark) -> str | None:
    """A name that Moodle splits at underscores; None where the student's number is unknown."""
    number = mark.ids.get("moodle", "")
    name = re.sub(r"[\W_]+", " ", mark.name).strip() or "student"
    return f"{name}_{number}_assignfeedback_file_feedback.html" if number.isdecimal() else None
