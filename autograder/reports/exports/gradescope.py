"""The columns of Gradescope's own export of an assignment's marks, for scripts and systems that read that.

Gradescope imports no marks of programming assignments: there they come from the uploaded autograder. Whoever grades
elsewhere hands on what Gradescope would have handed out under Download Grades.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...classroom.results import Status
from ..spreadsheets import as_score
from .marks import About, Mark, Table

STATUS = {Status.GRADED: "Graded", Status.NEEDS_REVIEW: "Ungraded", Status.MISSING: "Missing"}
FOLDER = "submission_"
"""Before the submission's number, in Gradescope's own download."""
HEADING = (
    "First Name",
    "Last Name",
    "SID",
    "Email",
    "Sections",
    "Total Score",
    "Max Points",
    "Status",
    "Submission ID",
    "Submission Time",
    "Lateness (H:M:S)",
)


def table(marks: Sequence[Mark], about: About) -> Table:
    """A line for each student, without a score where there is none."""
    rows = []
    for mark in marks:
        member = mark.result.member
        first, _, last = member.name.rpartition(" ")
        rows.append(
            {
                "First Name": mark.row.get("First Name", first),
                "Last Name": mark.row.get("Last Name", last),
                "SID": mark.ids.get("number", member.id),
                "Email": mark.ids.get("email", ""),
                "Sections": mark.row.get("Sections") or mark.row.get("Section", ""),
                "Total Score": as_score(mark.result.score),
                "Max Points": as_score(about.max_score),
                "Status": STATUS[mark.result.status],
                "Submission ID": member.entry.removeprefix(FOLDER) if member.entry.startswith(FOLDER) else "",
                "Submission Time": f"{member.submitted:%Y-%m-%d %H:%M:%S %z}" if member.submitted else "",
            }
        )
    return Table(HEADING, rows)


def feedback_file(mark: Mark) -> str | None:
    """No platform reads these: a name is made from the student's id."""
    return None
