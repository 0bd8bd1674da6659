"""The contents of a download: submissions, people, strays, times. Students, and the parts of a platform."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

from dateutil import parser
from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass as checked_dataclass

from foundation.command_line import UserError
from foundation.texts import first_of, printable

from ..intake.sources import IntakeError, RefusedError
from ..intake.submission import name_of
from ..intake.tree import ARCHIVES, LooseFiles, read_file

CLUTTER = {".DS_Store", ".git", ".ipynb_checkpoints", "__MACOSX", "__pycache__", "index.html"}
"""Left behind by systems and tools; Brightspace lists its submissions in the last one."""
UNREAD_ARCHIVES = (".rar", ".7z", ".tar", ".tgz", ".gz", ".bz2", ".xz")
"""Kinds that intake refuses, with a reason: somebody's work may be in them."""
POINTS_POSSIBLE = "Points Possible"
"""Heads a line of a gradebook with the points of each column; in a student's row, it ends the names of these."""
UNDECIDED = "several submissions, and it is not known which one counts"

Line: TypeAlias = Annotated[str, BeforeValidator(lambda text: printable(text) if isinstance(text, str) else text)]
"""One line without anything unprintable: names and files are whatever students chose."""


@dataclass(frozen=True)
class Person:
    """A student or a group, as far as the download knows."""

    name: str  # as the platform writes it; "" where it gives none
    ids: Mapping[str, str] = field(default_factory=dict)  # by kind, as in rosters; others only distinguish people
    is_plain: bool = False  # whether it has no spaces, punctuation and capitals there; others may then share it


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
    file: str = ""  # one of its names in the download, where names alone show whose it is
    key: str = ""  # of one that is graded: unique, a safe file name; it stays when the same students hand in again

    @property
    def name(self) -> str:
        """For reports: the entry's name without an archive's ending."""
        return name_of(Path(self.entry))


@checked_dataclass(frozen=True, eq=False)
class Student:
    """A student of a class, by the roster or the download, and what that student handed in."""

    id: str  # by which the course knows the student; unique
    name: str  # first name first where the roster separates them; the id where there is none
    ids: Mapping[str, str] = field(default_factory=dict)  # by kind, as in `Person`, for the marks' way back
    group: str = ""  # whose marks the student shares; "" = none
    key: Line = ""  # names the record of the submission that counts; "" = none counts
    entry: Line = ""  # that submission's name in the download
    file: Line = ""  # the name of one of its files there; by which platforms find the student of feedback
    is_late: bool | None = None  # by the platform, or Moodle's worksheet; None where they do not say
    submitted: datetime | None = None  # None where nobody says, or it cannot be read; without a zone, the course's
    unread_time: Line = ""  # why the time cannot be read; "" where it can, or nobody says
    undecided: tuple[Line, ...] = ()  # submissions, where it is not known which one counts
    left_out: Line = ""  # what else there is of the student's, and why it is not graded
    row: Annotated[Mapping[str, str], Field(exclude=True)] = field(default_factory=dict)  # of the roster, by heading

    @property
    def called(self) -> str:
        """For people: the name, with the id where it is another one."""
        return self.id if self.name in ("", self.id) else f"{self.name} ({self.id})"

    @property
    def undecided_reason(self) -> str:
        """The reason why a person has to choose a submission, for one who has several."""
        return f"{UNDECIDED}: {', '.join(self.undecided)}"

    @property
    def is_there(self) -> bool:
        """True unless there is a roster, and the student has no line in it."""
        return not self.row or any(self.row.values())

    @property
    def is_missing(self) -> bool:
        """True if the student handed in nothing."""
        return not self.key and not self.undecided


@checked_dataclass(frozen=True)
class Stray:
    """An entry of the download that is not graded: it is listed, and never a zero."""

    entry: Line
    reason: Line
    needs_decision: bool = False
    people: Annotated[tuple[Person, ...], Field(exclude=True)] = ()  # whose it is, as far as it shows


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
                if entry.name in CLUTTER or entry.name.startswith("._"):
                    continue
                is_hidden = entry.name.startswith((".", "__"))
                if is_hidden or entry.is_symlink() or not (entry.is_dir() or entry.is_file()):
                    others.append(Stray(entry.name, "a hidden name, a link, or neither a file nor a folder"))
                elif entry.is_dir():
                    folders.append(entry.name)
                else:
                    files.append(entry.name)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; expected a folder with one entry per submission") from None
    return Listing(path, tuple(folders), tuple(files), tuple(others))


def peek(path: Path) -> Listing:
    """Lists a student's folder; one that cannot be listed seems empty, so that it stops nobody else."""
    try:
        return list_folder(path)
    except UserError:
        return Listing(path)


def first_line(path: Path) -> str | None:
    """The first line of a small file; "" where it cannot be read, and None where there is none."""
    if not os.path.lexists(path):
        return None
    try:
        return read_file(path, MOST_BYTES).decode("utf-8-sig", "replace").strip().partition("\n")[0].strip()
    except (IntakeError, RefusedError):
        return ""


def holds_a_submission(name: str) -> bool:
    """True if a file by its name holds somebody's work: an archive or a notebook."""
    return name.lower().endswith((*ARCHIVES, *UNREAD_ARCHIVES, ".ipynb"))


MOST_BYTES = 1_000_000
LONGEST_TIME = 100
AMBIGUOUS = re.compile(r"(UT|UTC|GMT)\s*[+-]", re.IGNORECASE)
"""UTC+1 is east of Greenwich for some, and west for others."""
HOURS = {"PST": -8, "MST": -7, "PDT": -7, "CST": -6, "MDT": -6, "EST": -5, "CDT": -5, "EDT": -4}
HOURS |= dict.fromkeys(("Z", "UT", "UTC", "GMT", "WET"), 0)
HOURS |= {"WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3}
"""East of UTC, by the abbreviation of a zone; the American ones as in e-mail (RFC 5322)."""


def read_time(text: str) -> datetime | None:
    """A time, in UTC; without a zone it is UTC, as in nbgrader. None for no whole date, or a zone that nobody knows."""
    if len(text) > LONGEST_TIME or AMBIGUOUS.search(text):
        return None
    defaults = datetime(2001, 1, 1), datetime(2002, 2, 2)  # noqa: DTZ001  the zone comes below

    def offset_of(zone: str | None, seconds: int | None) -> int | None:
        return 3600 * HOURS[zone] if zone else seconds

    try:
        first, second = (parser.parse(text.strip(), default=default, tzinfos=offset_of) for default in defaults)
        if first != second:  # a part of the date is missing
            return None
        time: datetime = first.replace(tzinfo=first.tzinfo or UTC)
        return time.astimezone(UTC)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # it is a stranger's text
        return None


Read: TypeAlias = tuple[list[HandedIn], list[Stray]]
"""The submissions of a download, and the strays."""


@dataclass(frozen=True)
class Grade:
    """A student's mark on its way to a platform."""

    student: Student  # with the ids and the line of the platform's own roster, if there is one
    score: float | None  # None = no mark there, either: never a zero
    is_excused: bool = False  # where the platform takes that
    comment: str = ""  # in one line; "" without a score


@dataclass(frozen=True)
class Table:
    """A file to import."""

    heading: Sequence[str]
    rows: Sequence[Mapping[str, str]]  # by column
    unknown: Sequence[str] = ()  # students with a score whom the platform could not find
    note: str = ""  # what to see to before the import
    doubt: str = ""  # why marks would come into another place than the one that is meant
    has_mark: bool = True  # whether the file begins with a byte-order mark


@dataclass(frozen=True)
class Platform:
    """A platform, or another way in which submissions come."""

    title: str  # for people
    recognises: Callable[[Listing], bool]  # whether a folder has the layout of its downloads
    read: Callable[[Listing], Read]  # of such a folder; a `UserError` has the reason why it cannot be used
    table: Callable[[Sequence[Grade], str, float], Table] | None = None  # by heading or title, and most points
    feedback: Callable[[Student], str | None] | None = None  # the file's name by which it finds the student
    example: str = ""  # a name in its downloads, where names show whose an entry is
    note: str = ""  # what to know about the times in its downloads
    before: Callable[[Listing, datetime], Read] | None = None  # likewise `read`, as it was at some time


def known_by_names(
    title: str,
    pattern: re.Pattern[str],
    describe: Callable[[Path, re.Match[str]], HandedIn],
    reasons: Mapping[str, str] = MappingProxyType({}),
    **about: Any,
) -> Platform:
    """A platform in whose downloads names alone show whose each file or folder is.

    Of a name, the pattern's group `file` is what the student called the file, and `upload` a number that is higher for
    later ones. Where `kind` is one of `reasons`, only a person can read it. `describe` makes a submission of a single
    name in a folder; those with the same entry are files of one submission, to which intake gives their names back.
    """

    def recognises(listing: Listing) -> bool:
        """True if most of the entries are named so."""
        names = (*listing.folders, *listing.files)
        return 2 * sum(bool(pattern.fullmatch(name)) for name in names) > len(names)

    def read(listing: Listing) -> Read:
        strays, submissions, files = [], [], {*listing.files}
        entries: dict[str, list[tuple[re.Match[str], HandedIn]]] = {}
        for name in (*listing.folders, *listing.files):
            match = pattern.fullmatch(name)
            if match is None:
                strays.append(Stray(name, f"not named as {title} names submissions"))
                continue
            submission = describe(listing.path, match)
            if reason := reasons.get(match.groupdict().get("kind") or ""):
                strays.append(Stray(name, f"{reason}, which only a person can read", people=submission.people))
            else:
                entries.setdefault(submission.entry, []).append((match, submission))
        for entry, own in entries.items():
            own.sort(key=lambda pair: int(pair[0].groupdict().get("upload") or 0))
            last, submission = own[-1]
            loose = {match["file"]: match[0] for match, _ in own if match["file"] and match[0] in files}
            if not loose and last[0] in files:
                reason = "an attempt without a file, which only a person can read"
                strays.append(Stray(last[0], reason, people=submission.people))
                continue
            source: Path | LooseFiles = listing.path / next(iter(loose.values()), last[0])
            if len(loose) > 1 or not all(map(holds_a_submission, loose)):
                source = LooseFiles(entry, listing.path, tuple(sorted(loose.items())))
            submissions.append(replace(submission, source=source, file=last[0]))
        return submissions, strays

    return Platform(title, recognises, read, **about)


def heading_in(grades: Sequence[Grade], wanted: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    """The assignment's heading in the platform's own export, or else what is wanted; and why that may be wrong.

    `pattern` has the headings of assignments there, with the title as a group.
    """
    matches = map(pattern.fullmatch, dict.fromkeys(name for grade in grades for name in grade.student.row))
    titles = {match[0]: match["title"] for match in matches if match}
    same = [wanted] if wanted in titles else [heading for heading, title in titles.items() if title == wanted]
    if len(same) == 1 or not titles:
        return (*same, wanted)[0], ""
    shown = first_of([repr(printable(heading, 60)) for heading in same or titles], 5)
    which = f"{'more than one column' if same else 'no column'} of the gradebook is {wanted!r} and its number"
    return wanted, f"{which}: name the one that is meant with --column: {shown}"


def table_of(
    grades: Sequence[Grade],
    heading: Sequence[str],
    row: Callable[[Grade], Mapping[str, str]],
    first: Sequence[Mapping[str, str]] = (),
    takes_excused: bool = False,
    **about: Any,
) -> Table:
    """A table with some first rows, and one for each grade; students without a row the platform could not find.

    Students without a score are left out: an empty cell may remove a mark there that somebody has given by hand. Those
    who need none have a row where the platform takes that.
    """
    chosen = (grade for grade in grades if grade.score is not None or (takes_excused and grade.is_excused))
    rows = [(grade, row(grade) if grade.student.is_there else {}) for grade in chosen]
    unknown = [grade.student.called for grade, cells in rows if not cells]
    return Table(heading, [*first, *(cells for _, cells in rows if cells)], unknown, **about)
