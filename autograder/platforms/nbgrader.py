"""nbgrader; `reports.gradebook` writes into its gradebook.

Its submissions are `submitted/STUDENT/ASSIGNMENT/`, with the time of the submission in `timestamp.txt`.
"""

from foundation.command_line import UserError
from foundation.texts import printable

from .platform import HandedIn, Listing, Person, Platform, Read, Stray, first_line, peek, read_time

TIMESTAMP = "timestamp.txt"


def _recognises(listing: Listing) -> bool:
    """True if all folders hold one folder of the same name and nothing else, and a time is noted in most."""
    inner = [peek(listing.path / folder) for folder in listing.folders]
    names = {name for inside in inner for name in inside.folders}
    if len(names) != 1 or any(inside.files for inside in inner):
        return False
    (assignment,) = names
    n_times = sum(TIMESTAMP in peek(inside.path / assignment).files for inside in inner)
    return listing.path.name == "submitted" or 2 * n_times > sum(bool(inside.folders) for inside in inner)


def _read(listing: Listing) -> Read:
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
        written = first_line(folder / TIMESTAMP)  # such as "2026-11-02 15:58:23.948203 UTC"
        time = read_time(written or "")
        unread = "" if time or written is None else f"{printable(written, 40)!r} in {TIMESTAMP}"
        submissions.append(HandedIn(student, folder, (person,), student, submitted=time, unread_time=unread))
    return submissions, strays


NBGRADER = Platform("nbgrader", _recognises, _read)
