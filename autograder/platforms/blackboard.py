"""Blackboard Learn.

Its download (Download assignment file) has loose files: `TITLE_USERNAME_attempt_2026-10-03-23-45-12_FILE`, and for each
attempt `TITLE_USERNAME_attempt_2026-10-03-23-45-12.txt`, a receipt whose first line is `Name: Anna Smith (asmith)`. The
receipt has the user name where it has an underscore, or the title has. The time is the server's.

Upload grades takes CSV in UTF-8 or tabs in UTF-16, as it exports them. It finds students by Username, and a column by
the number behind its heading, `TITLE [Total Pts: 100 Score] |12345`; any other heading makes a new column of text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

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
    first_line,
    gather,
    grouped,
    heading_in,
    is_mostly,
    table_of,
)

ATTEMPT = r"(?P<entry>(?P<title>.+?)_(?P<user>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5}))"
FILE = re.compile(ATTEMPT + r"(?:_(?P<file>.+)|\.txt)", re.DOTALL)
NAME = re.compile(r"Name: (?P<name>.*) \((?P<user>[^()\s]+)\)")
ITEM = re.compile(r"(?P<title>.+) \[Total Pts: [^\]]*\](?: \|\d+)?", re.DOTALL)
STUDENT = ("Last Name", "First Name", "Username")


def _read(listing: Listing) -> Read:
    attempts, others = grouped(listing.files, FILE, "entry")
    strays = [Stray(name, "a folder; Blackboard hands out files") for name in listing.folders]
    strays += [Stray(name, "not named as Blackboard names submissions") for name in others]
    submissions = []
    for entry, files in attempts.items():
        loose = [(file["file"], 0, file[0]) for file in files if file["file"]]
        if not loose:
            strays.append(Stray(f"{entry}.txt", "an attempt without a file; a person can read its text"))
            continue
        receipt = NAME.fullmatch(first_line(listing.path / f"{entry}.txt") or "")
        name, user = (receipt["name"], receipt["user"]) if receipt else ("", files[0]["user"])
        try:
            time, unread = datetime.strptime(files[0]["time"], "%Y-%m-%d-%H-%M-%S"), ""  # noqa: DTZ007  the server's
        except ValueError:
            time, unread = None, files[0]["time"]
        people = (Person(name, {"blackboard": user, "login": user}),)
        source = gather(entry, listing.path, loose)
        submissions.append(HandedIn(entry, source, people, user, submitted=time, unread_time=unread))
    return submissions, strays


def _table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    """The grades of one column."""
    column, doubt = heading_in(grades, column, ITEM)
    if not doubt and not ITEM.fullmatch(column):
        doubt = "without Blackboard's own export as --roster the column's number is not known, and it makes a new one"
    has_roster = any(grade.row for grade in grades)

    def row(grade: Grade) -> dict[str, str]:
        user = grade.row.get("Username", "") if has_roster else grade.ids.get("blackboard", "")
        cells = {heading: grade.row.get(heading, "") for heading in STUDENT}
        return {**cells, "Username": user, column: as_score(grade.score)} if user else {}

    return table_of(grades, (*STUDENT, column), row, doubt=doubt)


BLACKBOARD = Platform("Blackboard", lambda listing: is_mostly(listing, FILE), _read, table=_table)
