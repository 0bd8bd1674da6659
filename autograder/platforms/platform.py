"""The parts of a platform: its downloads, the columns of its roster, the table that it imports."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from foundation.texts import first_of, printable

from ..intake.tree import LooseFiles
from .handed_in import HandedIn, Listing, Stray, holds_a_submission

Read: TypeAlias = tuple[list[HandedIn], list[Stray]]
"""The submissions of a download, and the strays."""
Matches: TypeAlias = dict[str, list[re.Match[str]]]


@dataclass(frozen=True)
class Grade:
    """A student's mark on its way to a platform."""

    name: str
    called: str  # for people: the name, with the id where it is another one
    score: float | None  # None = no mark there, either: never a zero
    is_excused: bool
    comment: str  # in one line; "" without a score
    file: str  # of the download, by which platforms find the student of feedback; "" = none
    key: str  # of the submission, which names the page of feedback
    ids: Mapping[str, str]  # by kind, as in `Person`, the roster's first
    row: Mapping[str, str]  # the student's line in the roster, by heading


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
    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # kinds of its own: their headings in any roster
    are_logins: bool = False  # whether its ids are the course's logins where a roster has none of them
    numbers_groups: bool = False  # whether groups have such ids too, which may be a student's
    marks_roster: frozenset[str] = frozenset()  # headings in lower case, any of which only its roster has
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of that roster, before `roster.COLUMNS`
    prefixes: Mapping[str, str] = field(default_factory=dict)  # what stands before an id there, by kind
    not_students: frozenset[str] = frozenset()  # names in its roster of those who are none
    table: Callable[[Sequence[Grade], str, float], Table] | None = None  # by heading or title, and most points
    feedback: Callable[[Grade], str | None] | None = None  # the file's name by which it finds the student
    note: str = ""  # what to know about the times in its downloads
    before: Callable[[Listing, datetime], Read] | None = None  # likewise `read`, as it was at some time


def is_mostly(listing: Listing, *patterns: re.Pattern[str]) -> bool:
    """True if most of the entries are named as a platform names them."""
    names = (*listing.folders, *listing.files)
    return 2 * sum(any(pattern.fullmatch(name) for pattern in patterns) for name in names) > len(names)


def grouped(names: Iterable[str], pattern: re.Pattern[str], by: str) -> tuple[Matches, list[str]]:
    """Matches of a pattern by one of its groups, and the names that it does not match."""
    matches: Matches = defaultdict(list)
    others = []
    for name in names:
        if match := pattern.fullmatch(name):
            matches[match[by]].append(match)
        else:
            others.append(name)
    return matches, others


def heading_in(grades: Sequence[Grade], wanted: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    """The assignment's heading in the platform's own export, or else what is wanted; and why that may be wrong.

    `pattern` has the headings of assignments there, with the title as a group.
    """
    matches = map(pattern.fullmatch, dict.fromkeys(name for grade in grades for name in grade.row))
    titles = {match[0]: match["title"] for match in matches if match}
    same = [wanted] if wanted in titles else [heading for heading, title in titles.items() if title == wanted]
    if len(same) == 1 or not titles:
        return (*same, wanted)[0], ""
    likely = same or sorted(titles, key=lambda heading: wanted.casefold() not in heading.casefold())
    shown = first_of([repr(printable(heading, 60)) for heading in likely], 5)
    which = f"{'more than one column' if same else 'no column'} of the gradebook is {wanted!r} and its number"
    return wanted, f"{which}: name the one that is meant with --column: {shown}"


def gather(name: str, folder: Path, files: Iterable[tuple[str, int, str]]) -> Path | LooseFiles:
    """A submission of the loose files of one student, or the single archive.

    Of each file: what the student called it, a number that is higher for later uploads, and its name in the download.
    Intake gives their names back to numbered ones.
    """
    chosen = {member: entry for member, _, entry in sorted(files, key=lambda file: file[1])}
    members = tuple(sorted(chosen.items()))
    is_single = len(members) == 1 and holds_a_submission(members[0][0])
    return folder / members[0][1] if is_single else LooseFiles(name, folder, members)
