"""A class's submissions as a learning platform hands them out: who handed in what, and what is no submission.

    download = read_download(Path("submissions"), assignment)
    students = match(download, read_roster(Path("roster.csv")))

    recognition.py  from a folder to its submissions       roster.py    students, from the platform's CSV
    platforms.py    how each platform lays them out        matching.py  who handed in what; who is missing
    handed_in.py    a submission, a person, a stray file, a time

Nothing is guessed: an entry that fits no rule of the layout is a stray, and is listed.
"""

from .handed_in import Download, HandedIn, Person, Stray
from .matching import Matched, match
from .platforms import LAYOUTS
from .recognition import read_download
from .roster import Student, read_points, read_roster

__all__ = [
    "LAYOUTS",
    "Download",
    "HandedIn",
    "Matched",
    "Person",
    "Stray",
    "Student",
    "match",
    "read_download",
    "read_points",
    "read_roster",
]
