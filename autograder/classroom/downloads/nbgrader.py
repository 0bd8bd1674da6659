"""nbgrader: `submitted/STUDENT/ASSIGNMENT/`, with the time of the submission in `timestamp.txt`."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from foundation.contract import Contract
from foundation.printable_text import printable

from ...intake.errors import IntakeError, RefusedError
from ...intake.files.tree import read_file
from .handed_in import DownloadError, HandedIn, Person, Stray
from .listing import Listing, peek
from .times import read_time

TIMESTAMP = "timestamp.txt"
MOST_BYTES = 100


def recognises(listing: Listing, contract: Contract) -> bool:
    """Whether all folders hold one folder of the same name and nothing else, and a time is noted in most."""
    inner = [peek(listing.path / folder) for folder in listing.folders]
    names = {name for inside in inner for name in inside.folders}
    if len(names) != 1 or any(inside.files for inside in inner):
        return False
    (assignment,) = names
    n_times = sum(TIMESTAMP in peek(inside.path / assignment).files for inside in inner)
    return listing.path.name == "submitted" or 2 * n_times > sum(bool(inside.folders) for inside in inner)


def read(listing: Listing, contract: Contract) -> tuple[list[HandedIn], list[Stray]]:
    """The submissions and the strays.

    Raises:
        DownloadError: where students have several assignments.
    """
    strays = [Stray(name, "not a student's folder") for name in listing.files]
    submissions = []
    for student in listing.folders:
        inside = peek(listing.path / student)
        if len(inside.folders) > 1:
            what = f"several assignments, {' and '.join(inside.folders[:2])}"
            raise DownloadError(f"{inside.path}: {what}; copy those of one assignment into a folder of their own")
        if not inside.folders:
            strays.append(Stray(student, "no assignment's folder in it, or not readable"))
            continue
        folder = inside.path / inside.folders[0]
        person = Person("", {"login": student})
        submitted, unread = time_of(folder)
        submissions.append(HandedIn(student, folder, (person,), student, submitted=submitted, unread_time=unread))
    return submissions, strays


def time_of(folder: Path) -> tuple[datetime | None, str]:
    """The time that nbgrader has noted, as in "2026-11-02 15:58:23.948203 UTC", and why it cannot be read."""
    if TIMESTAMP not in peek(folder).files:
        return None, f"a {TIMESTAMP} that is no file" if os.path.lexists(folder / TIMESTAMP) else ""
    try:
        text = read_file(folder / TIMESTAMP, MOST_BYTES).decode("utf-8").strip()
    except (IntakeError, RefusedError, ValueError):
        return None, f"a {TIMESTAMP} that cannot be read"
    time = read_time(text)
    return time, "" if time else f"{printable(text, 40)!r} in {TIMESTAMP}"
