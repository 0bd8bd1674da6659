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
from pathlib import Path

from foundation.texts import as_score

from ..intake.sources import IntakeError, RefusedError
from ..intake.tree import read_file
from .handed_in import HandedIn, Listing, Person, Stray
from .platform import Grade, Platform, Read, Table, gather, grouped, heading_in, is_mostly

ATTEMPT = r"(?P<entry>(?P<title>.+?)_(?P<user>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5}))"
FILE = re.compile(ATTEMPT + r"(?:_(?P<file>.+)|\.txt)", re.DOTALL)
NAME = re.compile(r"Name: (?P<name>.*) \((?P<user>[^()\s]+)\)")
MOST_RECEIPT = 1_000_000
ITEM = re.compile(r"(?P<title>.+) \[Total Pts: [^\]]*\](?: \|\d+)?", re.DOTALL)
STUDENT = ("Last Name", "First Name", "Username")


def read_blackboard(listing: Listing) -> Read:
    """Loose files, gathered by attempt."""
    attempts, others = grouped(listing.files, FILE, "entry")
    strays = [Stray(name, "a folder; Blackboard hands out files") for name in listing.folders]
    strays += [Stray(name, "not named as Blackboard names submissions") for name in others]
    submissions = []
    for entry, files in attempts.items():
        name, user = person_in(listing.path / f"{entry}.txt") or ("", files[0]["user"])
        loose = [(file["file"], 0, file[0]) for file in files if file["file"]]
        if not loose:
            strays.append(Stray(f"{entry}.txt", "an attempt without a file; a person can read its text"))
            continue
        person = Person(name, {"blackboard": user, "login": user})
        try:
            time, unread = datetime.strptime(files[0]["time"], "%Y-%m-%d-%H-%M-%S"), ""  # noqa: DTZ007  the server's
        except ValueError:
            time, unread = None, files[0]["time"]
        source = gather(entry, listing.path, loose)
        submissions.append(HandedIn(entry, source, (person,), user, submitted=time, unread_time=unread))
    return submissions, strays


def person_in(receipt: Path) -> tuple[str, str] | None:
    """The name and the user name in a receipt; None where there is none, or it cannot be read."""
    try:
        first = read_file(receipt, MOST_RECEIPT).decode("utf-8-sig", "replace").lstrip().partition("\n")[0]
    except (IntakeError, RefusedError):
        return None
    match = NAME.fullmatch(first.strip())
    return (match["name"], match["user"]) if match else None


def blackboard_table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    """The grades of one column."""
    column, doubt = heading_in(grades, column, ITEM)
    if not doubt and not ITEM.fullmatch(column):
        doubt = "without Blackboard's own export as --roster the column's number is not known, and it makes a new one"
    rows, unknown, has_roster = [], [], any(grade.row for grade in grades)
    for grade in (grade for grade in grades if grade.score is not None):
        if user := grade.row.get("Username", "") if has_roster else grade.ids.get("blackboard", ""):
            cells = {heading: grade.row.get(heading, "") for heading in STUDENT}
            rows.append({**cells, "Username": user, column: as_score(grade.score)})
        else:
            unknown.append(grade.called)
    return Table((*STUDENT, column), rows, unknown, doubt=doubt)


BLACKBOARD = Platform(
    "Blackboard",
    lambda listing: is_mostly(listing, FILE),
    read_blackboard,
    table=blackboard_table,
)
