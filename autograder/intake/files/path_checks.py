"""The names of files inside a submission: what a person sees, and what they were called before an upload."""

import re
import unicodedata
from collections.abc import Iterator

from ..size_limits import MAX_NAME_CHARACTERS

UNSEEN = {"Cc", "Cf", "Zl", "Zp"}  # control and formatting characters, line and paragraph separators
DRIVE = re.compile(r"[A-Za-z]:/")
NUMBER = r"(?:-(?P<upload>[1-9]\d{0,3})| ?\((?P<copy>[1-9]\d{0,3})\))"
NUMBERED = re.compile(rf"(?P<stem>.*[^/ ]){NUMBER}(?P<ending>(?:\.[A-Za-z]+)*)", re.DOTALL)

MOST_NUMBERS = 3


def plain_path(name: str) -> tuple[str, str]:
    """The path that a person sees in a name, "folder/file.py", and why what bears it is not read, or "".

    A backslash stands between folders as / does, and accents are written one way. An empty path means nothing at all.
    """
    path = unicodedata.normalize("NFC", name[: MAX_NAME_CHARACTERS + 1]).replace("\\", "/")
    seen = "".join(c for c in path if unicodedata.category(c) not in UNSEEN)
    parts = [part.strip() for part in seen.split("/")]
    problem = ""
    if len(name) > MAX_NAME_CHARACTERS:
        problem = f"its name has {len(name):,} characters; at most {MAX_NAME_CHARACTERS} are read"
    elif path.startswith("/") or DRIVE.match(path):
        problem = "its name is an absolute path; pack the files with relative names"
    elif ".." in parts:
        problem = "its name leads out of the archive (..); pack the files with relative names"
    return "/".join(part for part in parts if part not in ("", ".", "..")), problem


def earlier_names(path: str) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """What a file may have been called before an upload or a browser has put numbers behind its name.

    Canvas makes `layers-1.py` of the second upload of `layers.py`, browsers make `layers (1).py` of a second download.

    Returns:
        For each such path the numbers, and whether they are of the first kind; the shortest path comes last.
    """
    numbers: tuple[int, ...] = ()
    are_uploads = True
    while len(numbers) < MOST_NUMBERS and (found := NUMBERED.fullmatch(path)):
        path = found["stem"] + found["ending"]
        numbers = (int(found["upload"] or found["copy"]), *numbers)
        are_uploads = are_uploads and bool(found["upload"])
        yield path, numbers, are_uploads


def is_clutter(path: str) -> bool:
    """Whether systems and tools leave such a path behind: a hidden file, or a cache."""
    return any(part.startswith(".") or part in ("__pycache__", "__MACOSX") for part in path.split("/"))
