"""nbgrader; `reports.gradebook` writes into its gradebook.

Its submissions are `submitted/STUDENT/ASSIGNMENT/`, with the time of the submission in `timestamp.txt`.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from foundation.command_line import UserError
from foundation.texts import printable

from ..intake.sources import IntakeError, RefusedError
from ..intake.tree import read_file
from .handed_in import HandedIn, Listing, Person, Stray, peek, read_time
from .platform import Platform, Read

TIMESTAMP = "timestamp.txt"
MOST_TIMESTAMP = 100


def recognises_nbgrader(listing: Listing) -> bool:
    """True if all folders hold one folder of the same name and nothing else, and a time is noted in most."""
    inner = [peek(listing.path / folder) for folder in listing.folders]
    names = {name for inside in inner for name in inside.folders}
    if len(names) != 1 or any(inside.files for inside in inner):
        return False
    (assignment,) = names
    n_times = sum(TIMESTAMP in peek(inside.path / assignment).files for inside in inner)
    return listing.path.name == "submitted" or 2 * n_times > sum(bool(inside.folders) for inside in inner)


def read_nbgrader(listing: Listing) -> Read:
    """The only assignment of each student."""
    strays = [Stray(name, "not a student's folder") for name in listing.files]
    submissions = []
    for student in listing.folders:
        inside = peek(listing.path / student)
        if len(inside.folders) > 1:
            names = " and ".join(inside.folders[:2])
            raise UserError(
                f"{inside.path}: several assignments, {names}; copy those of one assignment into a folder of their own"
            )
        if not inside.folders:
            strays.append(Stray(student, "no assignment's folder in it, or not readable"))
            continue
        folder = inside.path / inside.folders[0]
        person = Person("", {"login": student})
        submitted, unread = time_noted_in(folder)
        submissions.append(HandedIn(student, folder, (person,), student, submitted=submitted, unread_time=unread))
    return submissions, strays


def time_noted_in(folder: Path) -> tuple[datetime | None, str]:
    """The time that nbgrader has noted, as in "2026-11-02 15:58:23.948203 UTC", and why it cannot be read."""
    if not os.path.lexists(folder / TIMESTAMP):
        return None, ""
    try:
        text = read_file(folder / TIMESTAMP, MOST_TIMESTAMP).decode("utf-8").strip()
    except (IntakeError, RefusedError, ValueError):
        return None, f"a {TIMESTAMP} that cannot be read"
    time = read_time(text)
    return time, "" if time else f"{printable(text, 40)!r} in {TIMESTAMP}"


NBGRADER = Platform("nbgrader", recognises_nbgrader, read_nbgrader)
