"""nbgrader: `submitted/STUDENT/ASSIGNMENT/`, with the time of the submission in `timestamp.txt`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from foundation.contract import Contract

from ...intake.errors import IntakeError, RefusedError
from ...intake.files.tree import read_file
from .handed_in import DownloadError, HandedIn, Person, Stray
from .listing import Listing, peek

TIMESTAMP = "timestamp.txt"
MOST_BYTES = 100


def recognises(listing: Listing, contract: Contract) -> bool:
    """Whether all folders hold one folder of the same name and nothing else, and a time is noted in most."""
    inner = [peek(listing.path / folder) for folder in listing.folders]
    names = {name for inside in inner for name in inside.folders}
    if len(names) != 1 or any(inside.files for inside in inner):
        return False
    (assignment,) = names
    n_times = sum(time_of(inside.path / assignment / TIMESTAMP) is not None for inside in inner)
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
        submissions.append(HandedIn(student, folder, (person,), student, submitted=time_of(folder / TIMESTAMP)))
    return submissions, strays


def time_of(path: Path) -> datetime | None:
    """The time in a file that nbgrader has written, "2026-11-02 15:58:23.948203 UTC"; None where there is none."""
    try:
        text = read_file(path, MOST_BYTES).decode("utf-8").strip()
        found = datetime.fromisoformat(text.removesuffix(" UTC"))
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except (IntakeError, RefusedError, ValueError):
        return None
