"""Brightspace (D2L).

Its download has `USER-FOLDER - NAME - DATE` for each time that somebody handed in, as a folder or as the beginning of
each file's name, and `index.html` about all of them. DATE is `Oct 3, 2026 1145 PM`, in the time zone of the course. A
group's entry has the group's name.

Grades, Import takes a CSV file whose heading names the grade item, `TITLE Points Grade`, and students by OrgDefinedId
or Username; each line ends with a `#` of its own column. The export, which serves as a roster, writes `#` before ids.
Feedback files go into a folder with the name of the student's in the download (Assignment, Add Feedback Files).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foundation.texts import as_score, printable

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
    read_time,
    table_of,
)

ENTRY = r"(?P<entry>(?P<user>\d+)-\d+ - (?P<name>[^-]+(?:-[^-]+)*?) ?- (?P<time>\w+\.? \d{1,2}, \d{4} \d{3,4} ?[AP]M))"
FOLDER, FILE = re.compile(ENTRY), re.compile(ENTRY + r" - (?P<file>.+)", re.DOTALL)
CLOCK = re.compile(r"(\d{1,2})(\d\d) ?([AP]M)$")
ITEM = re.compile(r"(?P<title>.+) Points Grade(?: <[^>]*>)?", re.DOTALL)
END = "End-of-Line Indicator"
IDS = ("OrgDefinedId", "Username")


def _read(listing: Listing) -> Read:
    folders, others = grouped(listing.folders, FOLDER, "entry")
    files, more = grouped(listing.files, FILE, "entry")
    others += [name for name in more if name != "index.html"]
    submissions = []
    for entry, matches in {**folders, **files}.items():
        loose = [(file["file"], 0, file[0]) for file in matches] if entry in files else []
        source = gather(entry, listing.path, loose) if loose else listing.path / entry
        first = matches[0]
        time = read_time(CLOCK.sub(r"\1:\2 \3", first["time"]))
        time = time and time.replace(tzinfo=None)  # the course's own
        unread = "" if time else printable(first["time"], 40)
        person = Person(first["name"].strip(), {"brightspace": first["user"]})
        owner = f"{first['user']} {first['name']}"
        submissions.append(HandedIn(entry, source, (person,), owner, submitted=time, unread_time=unread, file=first[0]))
    return submissions, [Stray(name, "not named as Brightspace names submissions") for name in others]


def _table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    column, doubt = heading_in(grades, column, ITEM)
    column = column if ITEM.fullmatch(column) else f"{column} Points Grade"
    heading = [name for name in IDS if any(grade.row.get(name) for grade in grades)] or [*IDS]

    def row(grade: Grade) -> dict[str, str]:
        cells = {name: grade.row.get(name, "") for name in IDS}
        return {**cells, column: as_score(grade.score), END: "#"} if any(cells.values()) else {}

    return table_of(grades, (*heading, column, END), row, doubt=doubt, has_mark=False)


def _feedback(grade: Grade) -> str | None:
    """A file in the student's folder; None where the download was not Brightspace's."""
    match = FILE.fullmatch(grade.file) or FOLDER.fullmatch(grade.file)
    return f"{printable(match['entry'])}/feedback.html" if match else None


BRIGHTSPACE = Platform(
    "Brightspace",
    lambda listing: is_mostly(listing, FOLDER, FILE),
    _read,
    marks_roster=frozenset({"orgdefinedid", END.lower()}),
    columns={"number": ("orgdefinedid",)},
    prefixes={"number": "#", "login": "#"},
    table=_table,
    feedback=_feedback,
)
