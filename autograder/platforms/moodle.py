"""Moodle.

Its download has `NAME_NUMBER_assignsubmission_file_` as a folder per student, or as the beginning of each file's name.

The number is the participant's, as in the column Identifier of the grading worksheet; a group has its own
(`mod/assign/classes/downloader.php` in moodle/moodle). Text typed into Moodle is `…_assignsubmission_onlinetext_`.

The grading worksheet: Submissions > Upload grading worksheet, and Upload multiple feedback files in a zip.

Moodle finds students by Identifier, "Participant" and a number, and needs Grade and Last modified (grade), too; it
skips empty grades, those above the maximum, and, by default, marks that were changed after the
worksheet's date (`mod/assign/feedback/offline` in moodle/moodle). Feedback comments are HTML there. A feedback file
belongs to the student whose number its name has in the second place (`mod/assign/feedback/file/importziplib.php`).
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from foundation.texts import as_score, first_of, printable

from .platform import Grade, HandedIn, Person, Student, Table, known_by_names, table_of

ENTRY = re.compile(
    r"(?P<owner>(?P<name>.+?)(?:_(?P<number>\d+))?)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?",
    re.DOTALL,
)
EXAMPLE = "Anna Smith_7_assignsubmission_file"
REASONS = {"onlinetext": "a text typed into Moodle"}
HEADING = ("Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments")
NEEDED = ("Identifier", "Grade", "Last modified (grade)")


def _describe(folder: Path, match: re.Match[str]) -> HandedIn:
    person = Person(match["name"], {"moodle": match["number"]} if match["number"] else {})
    entry = match["owner"] if match["file"] else match[0]
    return HandedIn(entry, folder / match[0], (person,), match["owner"])


def _table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    """The worksheet: the one that was given as a roster, filled in, or else a new one."""
    given = next((tuple(g.student.row) for g in grades if all(name in g.student.row for name in NEEDED)), None)

    def row(grade: Grade) -> dict[str, str]:
        student = grade.student
        cells = {"Full name": student.name, "Maximum Grade": as_score(max_score), "Last modified (grade)": "-"}
        cells |= {"Identifier": f"Participant {student.ids.get('moodle', '')}", **(student.row if given else {})}
        cells |= {"Grade": as_score(grade.score), "Feedback comments": html.escape(grade.comment, quote=False)}
        return cells if student.ids.get("moodle") else {}

    above = [g.student.called for g in grades if (g.score or 0.0) > _maximum(g.student, max_score)]
    why = "above the assignment's maximum there a mark is skipped; raise it, and export again: "
    note = why + first_of([printable(name, 60) for name in above], 5) if above else ""
    return table_of(grades, given or HEADING, row, note=note)


def _maximum(student: Student, max_score: float) -> float:
    """The assignment's points by the worksheet, or else its points here."""
    try:
        return float(student.row.get("Maximum Grade", "").replace(",", "."))
    except ValueError:
        return max_score


def _feedback(student: Student) -> str | None:
    """A name that Moodle splits at underscores; None where the student's number is unknown."""
    number = student.ids.get("moodle", "")
    name = re.sub(r"[\W_]+", " ", student.name).strip() or "student"
    return f"{name}_{number}_assignfeedback_file_feedback.html" if number.isdecimal() else None


MOODLE = known_by_names("Moodle", ENTRY, _describe, REASONS, example=EXAMPLE, table=_table, feedback=_feedback)
