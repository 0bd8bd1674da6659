"""Moodle.

Its download has `NAME_NUMBER_assignsubmission_file_` as a folder per student, or as the beginning of each file's name.

The number is the participant's, as in the column Identifier of the grading worksheet; a group has its own
(`mod/assign/classes/downloader.php` in moodle/moodle). Text typed into Moodle is `…_assignsubmission_onlinetext_`.

The grading worksheet: Submissions > Upload grading worksheet, and Upload multiple feedback files in a zip.

Moodle finds students by Identifier, "Participant" and a number, and needs Grade and Last modified (grade), too; it
skips empty grades, those above the maximum, and, unless told otherwise, marks that were changed after the
worksheet's date (`mod/assign/feedback/offline` in moodle/moodle). Feedback comments are HTML there. A feedback file
belongs to the student whose number its name has in the second place (`mod/assign/feedback/file/importziplib.php`).
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from foundation.texts import as_score, first_of, printable

from ..classroom.handed_in import HandedIn, Listing, Person, Stray
from .platform import Platform, Read, Table, gather, is_mostly

if TYPE_CHECKING:
    from ..reports.exports import Mark


MOODLE_ENTRY = re.compile(
    r"(?P<owner>(?P<name>.+?)(?:_(?P<number>\d+))?)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?",
    re.DOTALL,
)


def read_moodle(listing: Listing) -> Read:
    """A folder, or loose files, for each student or group."""
    submissions, strays = [], []
    loose: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    people = {}
    for name in (*listing.folders, *listing.files):
        found = MOODLE_ENTRY.fullmatch(name)
        if found is None:
            strays.append(Stray(name, "not named as Moodle names submissions"))
            continue
        owner, person = found["owner"], Person(found["name"], {"moodle": found["number"]} if found["number"] else {})
        people[owner] = person
        if found["kind"] == "onlinetext":
            strays.append(Stray(name, "a text typed into Moodle, which only a person can read"))
        elif name in listing.folders:
            submissions.append(HandedIn(name, listing.path / name, (person,), owner))
        elif found["file"]:
            loose[owner].append((found["file"], 0, name))
        else:
            strays.append(Stray(name, "a file without the name that the student gave it"))
    for owner, files in loose.items():
        submissions.append(HandedIn(owner, gather(owner, listing.path, files), (people[owner],), owner))
    return submissions, strays


MOODLE_HEADING = ("Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments")
NEEDED = ("Identifier", "Grade", "Last modified (grade)")


def moodle_table(marks: Sequence[Mark], column: str, max_score: float) -> Table:
    """The worksheet: the one that was given as a roster, filled in, or else a new one."""
    given = next((tuple(mark.row) for mark in marks if all(column in mark.row for column in NEEDED)), None)
    rows, unknown = [], []
    for mark in marks:
        if not (number := mark.ids.get("moodle", "")):
            unknown += [mark.result.member.called] if mark.result.score is not None else []
            continue
        row = {
            "Identifier": f"Participant {number}",
            "Full name": mark.result.member.name,
            "Maximum Grade": as_score(max_score),
            "Last modified (grade)": "-",
        }
        row |= mark.row if given else {}
        if mark.result.score is not None:
            row |= {"Grade": as_score(mark.result.score), "Feedback comments": html.escape(mark.comment, quote=False)}
        rows.append(row)
    above = [mark.result.member.called for mark in marks if (mark.result.score or 0.0) > maximum_of(mark, max_score)]
    why = "above the assignment's maximum there a mark is skipped; raise it, and export again: "
    note = why + first_of([printable(name, 60) for name in above], 5) if above else ""
    return Table(given or MOODLE_HEADING, rows, unknown, note)


def maximum_of(mark: Mark, max_score: float) -> float:
    """What the worksheet says that the assignment is worth, or else what it is worth here."""
    try:
        return float(mark.row.get("Maximum Grade", "").replace(",", "."))
    except ValueError:
        return max_score


def moodle_feedback(mark: Mark) -> str | None:
    """A name that Moodle splits at underscores; None where the student's number is unknown."""
    number = mark.ids.get("moodle", "")
    name = re.sub(r"[\W_]+", " ", mark.result.member.name).strip() or "student"
    return f"{name}_{number}_assignfeedback_file_feedback.html" if number.isdecimal() else None


MOODLE = Platform(
    "Moodle",
    lambda listing: is_mostly(listing, MOODLE_ENTRY),
    read_moodle,
    marks_roster=frozenset({"maximum grade", "last modified (grade)"}),
    columns={"moodle": ("identifier", "participant")},
    prefixes={"moodle": "Participant "},
    table=moodle_table,
    feedback=moodle_feedback,
)
