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

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from foundation.texts import as_score, first_of, printable

from .platform import Grade, HandedIn, Listing, Person, Platform, Read, Stray, Table, gather, grouped, is_mostly

ENTRY = re.compile(
    r"(?P<owner>(?P<name>.+?)(?:_(?P<number>\d+))?)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?",
    re.DOTALL,
)
HEADING = ("Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments")
NEEDED = ("Identifier", "Grade", "Last modified (grade)")


def _read(listing: Listing) -> Read:
    """A folder, or loose files, for each student or group."""
    names = (*listing.folders, *listing.files)
    matches, others = grouped(names, ENTRY, "owner")
    submissions, strays = [], [Stray(name, "not named as Moodle names submissions") for name in others]
    for owner, of_owner in matches.items():
        number = of_owner[0]["number"]
        person = Person(of_owner[0]["name"], {"moodle": number} if number else {})
        loose = []
        for match in of_owner:
            if match["kind"] == "onlinetext":
                strays.append(Stray(match[0], "a text typed into Moodle, which only a person can read"))
            elif match[0] in listing.folders:
                submissions.append(HandedIn(match[0], listing.path / match[0], (person,), owner))
            elif match["file"]:
                loose.append((match["file"], 0, match[0]))
            else:
                strays.append(Stray(match[0], "a file without the name that the student gave it"))
        if loose:
            submissions.append(HandedIn(owner, gather(owner, listing.path, loose), (person,), owner))
    return submissions, strays


def _table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    """The worksheet: the one that was given as a roster, filled in, or else a new one."""
    given = next((tuple(grade.row) for grade in grades if all(name in grade.row for name in NEEDED)), None)
    rows, unknown, above = [], [], []
    for grade in grades:
        row = {"Full name": grade.name, "Maximum Grade": as_score(max_score), "Last modified (grade)": "-"}
        row |= {"Identifier": f"Participant {grade.ids.get('moodle', '')}", **(grade.row if given else {})}
        if grade.score is not None:
            row |= {"Grade": as_score(grade.score), "Feedback comments": html.escape(grade.comment, quote=False)}
            above += [grade.called] if grade.score > _maximum(grade, max_score) else []
        if grade.ids.get("moodle"):
            rows.append(row)
        elif grade.score is not None:
            unknown.append(grade.called)
    why = "above the assignment's maximum there a mark is skipped; raise it, and export again: "
    note = why + first_of([printable(name, 60) for name in above], 5) if above else ""
    return Table(given or HEADING, rows, unknown, note)


def _maximum(grade: Grade, max_score: float) -> float:
    """The assignment's points by the worksheet, or else its points here."""
    try:
        return float(grade.row.get("Maximum Grade", "").replace(",", "."))
    except ValueError:
        return max_score


def _feedback(grade: Grade) -> str | None:
    """A name that Moodle splits at underscores; None where the student's number is unknown."""
    number = grade.ids.get("moodle", "")
    name = re.sub(r"[\W_]+", " ", grade.name).strip() or "student"
    return f"{name}_{number}_assignfeedback_file_feedback.html" if number.isdecimal() else None


MOODLE = Platform(
    "Moodle",
    lambda listing: is_mostly(listing, ENTRY),
    _read,
    ids={"moodle": ("participant",)},
    numbers_groups=True,
    marks_roster=frozenset({"maximum grade", "last modified (grade)"}),
    columns={"moodle": ("identifier", "participant")},
    prefixes={"moodle": "Participant "},
    table=_table,
    feedback=_feedback,
)
