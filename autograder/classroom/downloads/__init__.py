"""A class's submissions as a learning platform hands them out: who handed in what, and what is no submission.

    download = read_download(Path("submissions"), assignment)
    students = match(download, read_roster(Path("roster.csv")))

    recognition.py   which layout a folder has          roster.py            students, from the platform's CSV
    canvas.py        loose files, named by student      matching.py          who handed in what; who is missing
    moodle.py        a folder or files per student      handed_in.py         a submission, a person, a stray file
    gradescope.py    folders and submission_metadata    listing.py           the entries of a folder
    nbgrader.py      submitted/STUDENT/ASSIGNMENT       repeated_uploads.py  `layers-1.py` is a later `layers.py`
    github.py        clones of GitHub Classroom
    plain.py         one entry per submission             times.py             when, in any of their ways

Nothing is guessed: an entry that fits no rule of the layout is a stray, and is listed.
"""

from .handed_in import Download, DownloadError, HandedIn, Person, Stray
from .matching import Matched, match, names_another
from .recognition import LAYOUTS, PLATFORM_NAMES, read_download
from .roster import Student, read_points, read_roster

__all__ = [
    "LAYOUTS",
    "PLATFORM_NAMES",
    "Download",
    "DownloadError",
    "HandedIn",
    "Matched",
    "Person",
    "Stray",
    "Student",
    "match",
    "names_another",
    "read_download",
    "read_points",
    "read_roster",
]
