"""nbgrader; `reports.gradebook` writes into its gradebook.

Its submissions are `submitted/STUDENT/ASSIGNMENT/`, with the time of the submission in `timestamp.txt`.
"""

from collections import Counter

from foundation.command_line import UserError
from foundation.texts import printable

from .platform import HandedIn, Listing, Person, Platform, Read, Stray, first_line, holds_a_submission, peek, read_time

TIMESTAMP = "timestamp.txt"


def _recognises(listing: Listing) -> bool:
    """True if most entries are folders with one folder of the same name and nothing else, most of these with a time."""
    inner = [peek(listing.path / folder) for folder in listing.folders]
    n_entries = sum(bool(inside.folders or inside.files) for inside in inner)
    n_entries += sum(map(holds_a_submission, listing.files))
    names = Counter(inside.folders[0] for inside in inner if len(inside.folders) == 1 and not inside.files)
    [(assignment, count), *_] = names.most_common(1) or [("", 0)]
    if 2 * count <= n_entries:
        return False
    n_times = sum(TIMESTAMP in peek(inside.path / assignment).files for inside in inner)
    return listing.path.name == "submitted" or 2 * n_times > count


def _read(listing: Listing) -> Read:
    strays = [Stray(name, "not a student's folder", holds_a_submission(name)) for name in listing.files]
    inner = {student: peek(listing.path / student) for student in listing.folders}
    several = {student: " and ".join(inside.folders[:2]) for student, inside in inner.items() if inside.folders[1:]}
    if 2 * len(several) > len(inner):
        student, names = next(iter(several.items()))
        why = f"several assignments, {names}; copy those of one assignment into a folder of their own"
        raise UserError(f"{inner[student].path}: {why}")
    submissions = []
    for student, inside in inner.items():
        if student in several:
            strays.append(Stray(student, f"several folders in it, {several[student]}", needs_decision=True))
            continue
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
