"""Contents of a download: submissions with the people whom the platform names, files that are none, and times."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeAlias

from dateutil import parser
from pydantic import BeforeValidator
from pydantic.dataclasses import dataclass as checked_dataclass

from foundation.command_line import UserError
from foundation.texts import printable

from ..intake.submission import name_of
from ..intake.tree import ARCHIVES, LooseFiles

CLUTTER = {".DS_Store", ".git", ".ipynb_checkpoints", "__MACOSX", "__pycache__"}
UNREAD_ARCHIVES = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")
"""Kinds that intake refuses, with a reason: somebody's work may be in them."""

Line: TypeAlias = Annotated[str, BeforeValidator(lambda text: printable(text) if isinstance(text, str) else text)]
"""One line without anything unprintable: names and files are whatever students chose."""


@dataclass(frozen=True)
class Person:
    """A student or a group, as far as the download knows.

    `ids` are by kind: "canvas", "moodle", "number", "login", "github", "email", as in rosters, and others, which only
    distinguish people. Where `is_plain`, the platform has left spaces, punctuation and capitals out of the name; others
    may then share it.
    """

    name: str  # as the platform writes it; "" where it gives none
    ids: Mapping[str, str] = field(default_factory=dict)
    is_plain: bool = False


@dataclass(frozen=True, eq=False)
class HandedIn:
    """One submission."""

    entry: str  # its name in the download, for people to find it; unique
    source: Path | LooseFiles  # what intake reads: a folder, an archive, a notebook, loose files of one student
    people: tuple[Person, ...]  # who handed it in; several for a group
    owner: str  # what the download calls those who handed it in; it stays when they hand in again
    is_late: bool | None = None  # by the platform; None where it does not say
    submitted: datetime | None = None  # None where the platform does not say, or it cannot be read
    unread_time: str = ""  # why the time cannot be read; "" where it can, or the platform does not say
    file: str = ""  # in whose name the platform finds the student of feedback; "" = the source's
    key: str = ""  # of one that is graded: unique, a safe file name; it stays when the same students hand in again

    @property
    def name(self) -> str:
        """For reports: the entry's name without an archive's ending."""
        return name_of(Path(self.entry))


@checked_dataclass(frozen=True)
class Stray:
    """An entry of the download that is not graded: it is listed, and never a zero."""

    entry: Line
    reason: Line
    needs_decision: bool = False


@dataclass(frozen=True)
class Download:
    """A class's download, with its entries in order."""

    layout: str  # one of `download.PLATFORMS`
    folder: Path  # that holds the submissions; below the named one where an extra folder lies between
    submissions: tuple[HandedIn, ...]
    strays: tuple[Stray, ...]


@dataclass(frozen=True)
class Listing:
    """A folder's entries, in order of names, without what systems and tools leave behind."""

    path: Path
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    others: tuple[Stray, ...] = ()  # links, pipes, devices, and names that begin with a dot or two underscores


def list_folder(path: Path) -> Listing:
    """Lists a folder. Raises: UserError where it cannot be listed."""
    folders, files, others = [], [], []
    try:
        with os.scandir(path) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_symlink():
                    others.append(Stray(entry.name, "a link; hand in the files themselves"))
                elif entry.name.startswith((".", "__")):
                    if entry.name not in CLUTTER and not entry.name.startswith("._"):
                        others.append(Stray(entry.name, "hidden: its name begins with . or __"))
                elif entry.is_dir():
                    folders.append(entry.name)
                elif entry.is_file():
                    files.append(entry.name)
                else:
                    others.append(Stray(entry.name, "neither a file nor a folder"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; expected a folder with one entry per submission") from None
    return Listing(path, tuple(folders), tuple(files), tuple(others))


def peek(path: Path) -> Listing:
    """Lists a student's folder; one that cannot be listed seems empty, so that it stops nobody else."""
    try:
        return list_folder(path)
    except UserError:
        return Listing(path)


def holds_a_submission(name: str) -> bool:
    """True if a file by its name holds somebody's work: an archive or a notebook."""
    return name.lower().endswith((*ARCHIVES, *UNREAD_ARCHIVES, ".ipynb"))


LONGEST_TIME = 100
AMBIGUOUS = re.compile(r"(UT|UTC|GMT)\s*[+-]", re.IGNORECASE)
"""UTC+1 is east of Greenwich for some, and west for others."""
HOURS = {"PST": -8, "MST": -7, "PDT": -7, "CST": -6, "MDT": -6, "EST": -5, "CDT": -5, "EDT": -4}
HOURS |= dict.fromkeys(("Z", "UT", "UTC", "GMT", "WET"), 0)
HOURS |= {"WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3}
"""East of UTC, by the abbreviation of a zone; the American ones as in e-mail (RFC 5322)."""


def read_time(text: str) -> datetime | None:
    """A time, in UTC; without a zone it is UTC, as in nbgrader. None where no date, or a zone that nobody knows."""
    if len(text) > LONGEST_TIME or AMBIGUOUS.search(text):
        return None

    def offset_of(zone: str | None, seconds: int | None) -> int | None:
        return 3600 * HOURS[zone] if zone else seconds

    defaults = datetime(2001, 1, 1), datetime(2002, 2, 2)  # noqa: DTZ001  the zone comes below
    try:
        first, second = (parser.parse(text.strip(), default=default, tzinfos=offset_of) for default in defaults)
        if first != second:  # a part of the date is missing
            return None
        time: datetime = first.replace(tzinfo=first.tzinfo or UTC)
        return time.astimezone(UTC)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # it is a stranger's text
        return None
