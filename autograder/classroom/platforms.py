"""Finds the submissions of a class in a folder, as each platform lays them out: who handed in what, and what is none.

    download = read_download(Path("submissions"), assignment)

Nothing is guessed: an entry that fits no rule of the layout is a stray, and is listed.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from foundation.assignment_file import Assignment
from foundation.command_line import UserError
from foundation.texts import printable

from ..intake import LooseFiles, name_of
from ..intake.tree import read_file
from ..sources import IntakeError, RefusedError
from .handed_in import Download, HandedIn, Listing, Person, Stray, holds_a_submission, list_folder, peek, read_time

Read: TypeAlias = tuple[list[HandedIn], list[Stray]]
"""The submissions of a download, and the strays."""


@dataclass(frozen=True)
class Layout:
    """One platform."""

    title: str  # for people
    recognises: Callable[[Listing], bool]  # whether a folder has this layout
    read: Callable[[Listing], Read]  # what is in such a folder; a `UserError` says why it cannot be used


def is_mostly(listing: Listing, *patterns: re.Pattern[str]) -> bool:
    """Whether most of the entries are named as a platform names them."""
    names = (*listing.folders, *listing.files)
    return 2 * sum(any(one.fullmatch(name) for one in patterns) for name in names) > len(names)


# Canvas: loose files, `NAME_LATE_USER_UPLOAD_FILE` with the lower-case name, the user's and the upload's number.
#
# Of names, Canvas keeps letters of any script with their accents and vowel signs, which need not be one character, and
# leaves out spaces and punctuation (`sanitize_file_name` in `lib/content_zipper.rb` of instructure/canvas-lms). `LATE_`
# stands there only for late submissions; under anonymous grading NAME is missing and the user is `anon_…`. A text entry
# ends with `_text.html`, a URL with `_link.html`. Canvas hands out the last attempt of each student only.

OWNER = r"(?:(?P<name>(?!LATE_|anon_)(?:[0-9A-Za-z_]|[^\x00-\x7f])+?)_)?(?P<late>LATE_)?(?P<user>\d+|anon_[A-Za-z0-9]+)"
CANVAS_FILE = re.compile(OWNER + r"_(?P<upload>\d+)_(?P<file>.+)", re.DOTALL)
CANVAS_TEXT = re.compile(OWNER + r"_(?P<kind>text|link)\.html")


def read_canvas(listing: Listing) -> Read:
    """Loose files, gathered by user."""
    files: dict[str, list[re.Match[str]]] = defaultdict(list)
    strays = [Stray(name, "a folder; Canvas hands out files") for name in listing.folders]
    for name in listing.files:
        if found := CANVAS_FILE.fullmatch(name):
            files[found["user"]].append(found)
        elif found := CANVAS_TEXT.fullmatch(name):
            what = "a text entry" if found["kind"] == "text" else "a link to a web page"
            strays.append(Stray(name, f"{what}, which only a person can read"))
        else:
            strays.append(Stray(name, "not named as Canvas names submissions"))
    submissions = []
    for user, uploads in files.items():
        ids = {} if user.startswith("anon_") else {"canvas": user}
        person = Person(uploads[0]["name"] or "", ids, is_plain=True)
        entry = f"{person.name}_{user}".lstrip("_")
        loose = [(found["file"], int(found["upload"]), found[0]) for found in uploads]
        is_late = any(found["late"] for found in uploads)
        submissions.append(HandedIn(entry, gather(entry, listing.path, loose), (person,), entry, is_late))
    return submissions, strays


def gather(name: str, folder: Path, files: Iterable[tuple[str, int, str]]) -> Path | LooseFiles:
    """A submission of the loose files of one student, or the single archive.

    Of each file: what the student called it, a number that is higher for later uploads, and its name in the download.
    Intake gives their names back to numbered ones.
    """
    chosen = {member: entry for member, _, entry in sorted(files, key=lambda file: file[1])}
    members = tuple(sorted(chosen.items()))
    is_one = len(members) == 1 and holds_a_submission(members[0][0])
    return folder / members[0][1] if is_one else LooseFiles(name, folder, members)


# Moodle: `NAME_NUMBER_assignsubmission_file_` as a folder per student, or as the beginning of each file's name.
#
# The number is the participant's, as in the column Identifier of the grading worksheet; a group has its own
# (`mod/assign/classes/downloader.php` in moodle/moodle). Text typed into Moodle is `…_assignsubmission_onlinetext_`.

MOODLE_ENTRY = re.compile(
    r"(?P<owner>(?P<name>.+?)(?:_(?P<number>\d+))?)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?",
    re.DOTALL,
)


def read_moodle(listing: Listing) -> Read:
    """A folder, or loose files, for each student or group."""
    submissions, strays = [], []
    loose: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    people = {}
    for name in (*listing.folders, *listing.files):
        found = MOODLE_ENTRY.fullmatch(name)
        if found is None:
            strays.append(Stray(name, "not named as Moodle names submissions"))
            continue
        owner, person = found["owner"], Person(found["name"], {"moodle": found["number"]} if found["number"] else {})
        people[owner] = person
        if found["kind"] == "onlinetext":
            strays.append(Stray(name, "a text typed into Moodle, which only a person can read"))
        elif name in listing.folders:
            submissions.append(HandedIn(name, listing.path / name, (person,), owner))
        elif found["file"]:
            loose[owner].append((found["file"], 0, name))
        else:
            strays.append(Stray(name, "a file without the name that the student gave it"))
    for owner, files in loose.items():
        submissions.append(HandedIn(owner, gather(owner, listing.path, files), (people[owner],), owner))
    return submissions, strays


# Gradescope: `submission_metadata.yml` beside a folder `submission_NUMBER` for each submission.
#
# The metadata name the submitters, all partners of a group, and the time; keys have a colon in front. They quote what
# submitted code printed, so they are read as plain data.

METADATA = "submission_metadata.yml"
GRADESCOPE_FOLDER = re.compile(r"submission_\d+")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def recognises_gradescope(listing: Listing) -> bool:
    """Whether the metadata are there, beside folders that are mostly named as Gradescope names them."""
    named = [name for name in listing.folders if GRADESCOPE_FOLDER.fullmatch(name)]
    return METADATA in listing.files and 2 * len(named) > len(listing.folders)


def read_gradescope(listing: Listing) -> Read:
    """What the metadata mention."""
    metadata = read_metadata(listing.path / METADATA)
    submissions = []
    named = [*listing.folders, *(name for name in listing.files if name != METADATA)]
    strays = [Stray(name, "not mentioned in the metadata") for name in named if name not in metadata]
    strays += [Stray(name, "mentioned in the metadata, but not there") for name in metadata.keys() - {*named}]
    for name in (name for name in listing.folders if name in metadata):
        people = tuple(submitter_of(one) for one in metadata[name].get(":submitters") or ())
        ids = [next(iter(person.ids.values()), "") for person in people]
        owner = "+".join(sorted(ids)) if ids and all(ids) else name  # each attempt has another number
        written = metadata[name].get(":created_at")
        time = read_time(str(written))  # YAML reads some ways of writing a time, and leaves others as text
        unread = f"{printable(str(written), 40)!r} as :created_at" if time is None and written is not None else ""
        submissions.append(HandedIn(name, listing.path / name, people, owner, submitted=time, unread_time=unread))
    return submissions, strays


def submitter_of(entry: Mapping[str, Any]) -> Person:
    """One of those who handed in a submission."""
    ids = {kind: str(entry[key]) for kind, key in (("number", ":sid"), ("email", ":email")) if entry.get(key)}
    return Person(str(entry.get(":name") or ""), ids)


def read_metadata(path: Path) -> dict[str, dict[str, Any]]:
    """The metadata of each submission, by the name of its folder."""
    try:
        content = yaml.load(path.read_bytes(), Loader=LOADER)  # noqa: S506  a safe loader
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict) or not all(isinstance(entry, dict) for entry in content.values()):
        raise UserError(f"{path}: not of Gradescope's shape: expected a table of submissions")
    return {str(name): entry for name, entry in content.items()}


# GitHub Classroom: clones named `ASSIGNMENT-USERNAME`, each with its `.git`, in a folder that `gh` names
# `ASSIGNMENT-submissions`.


def recognises_github(listing: Listing) -> bool:
    """Whether most folders are clones whose names begin alike."""
    clones = clones_in(listing)
    return 2 * len(clones) > len(listing.folders) and bool(prefix_of(clones, listing.path))


def read_github(listing: Listing) -> Read:
    """The clones."""
    clones = clones_in(listing)
    strays = [Stray(name, "a file beside the clones") for name in listing.files]
    strays += [Stray(name, "not a clone: it has no .git") for name in listing.folders if name not in clones]
    prefix = prefix_of(clones, listing.path)
    people = {name: Person("", {"github": name.removeprefix(prefix)}) for name in clones}
    return [HandedIn(name, listing.path / name, (people[name],), name) for name in clones], strays


def clones_in(listing: Listing) -> list[str]:
    """The folders that are git working trees."""
    return [name for name in listing.folders if (listing.path / name / ".git").exists()]


def prefix_of(names: Sequence[str], folder: Path) -> str:
    """What all names begin with, up to a hyphen: that of the assignment; "" where it cannot be told.

    The folder's own name tells it, if it is as `gh` chose it. Otherwise several users whose names begin alike are
    misread (hw1-ann-lee and hw1-ann-kim), which one more user ends.
    """
    name = folder.resolve().name
    slug = name.removesuffix("-submissions")
    if slug != name and names and all(one.startswith(f"{slug}-") for one in names):
        return f"{slug}-"
    prefix = os.path.commonprefix(names) if len(names) > 1 else ""
    return prefix[: prefix.rfind("-") + 1]


# nbgrader: `submitted/STUDENT/ASSIGNMENT/`, with the time of the submission in `timestamp.txt`.

TIMESTAMP = "timestamp.txt"
MOST_TIMESTAMP = 100


def recognises_nbgrader(listing: Listing) -> bool:
    """Whether all folders hold one folder of the same name and nothing else, and a time is noted in most."""
    inner = [peek(listing.path / folder) for folder in listing.folders]
    names = {name for inside in inner for name in inside.folders}
    if len(names) != 1 or any(inside.files for inside in inner):
        return False
    (assignment,) = names
    n_times = sum(TIMESTAMP in peek(inside.path / assignment).files for inside in inner)
    return listing.path.name == "submitted" or 2 * n_times > sum(bool(inside.folders) for inside in inner)


def read_nbgrader(listing: Listing) -> Read:
    """The only assignment of each student."""
    strays = [Stray(name, "not a student's folder") for name in listing.files]
    submissions = []
    for student in listing.folders:
        inside = peek(listing.path / student)
        if len(inside.folders) > 1:
            what = f"several assignments, {' and '.join(inside.folders[:2])}"
            raise UserError(f"{inside.path}: {what}; copy those of one assignment into a folder of their own")
        if not inside.folders:
            strays.append(Stray(student, "no assignment's folder in it, or not readable"))
            continue
        folder = inside.path / inside.folders[0]
        person = Person("", {"login": student})
        submitted, unread = time_noted_in(folder)
        submissions.append(HandedIn(student, folder, (person,), student, submitted=submitted, unread_time=unread))
    return submissions, strays


def time_noted_in(folder: Path) -> tuple[datetime | None, str]:
    """The time that nbgrader has noted, as in "2026-11-02 15:58:23.948203 UTC", and why it cannot be read."""
    if not os.path.lexists(folder / TIMESTAMP):
        return None, ""
    try:
        text = read_file(folder / TIMESTAMP, MOST_TIMESTAMP).decode("utf-8").strip()
    except (IntakeError, RefusedError, ValueError):
        return None, f"a {TIMESTAMP} that cannot be read"
    time = read_time(text)
    return time, "" if time else f"{printable(text, 40)!r} in {TIMESTAMP}"


# No platform: each folder, archive or notebook is a submission, named after the student.


def read_plain(listing: Listing) -> Read:
    """One entry per submission."""
    submissions = []
    for name in sorted((*listing.folders, *filter(holds_a_submission, listing.files))):
        student = name_of(listing.path / name)
        submissions.append(HandedIn(name, listing.path / name, (Person(student, {"login": student}),), name))
    reason = "neither a folder, an archive nor a notebook"
    return submissions, [Stray(name, reason) for name in listing.files if not holds_a_submission(name)]


LAYOUTS = {
    "gradescope": Layout("Gradescope", recognises_gradescope, read_gradescope),
    "canvas": Layout("Canvas", lambda listing: is_mostly(listing, CANVAS_FILE, CANVAS_TEXT), read_canvas),
    "moodle": Layout("Moodle", lambda listing: is_mostly(listing, MOODLE_ENTRY), read_moodle),
    "github": Layout("GitHub Classroom", recognises_github, read_github),
    "nbgrader": Layout("nbgrader", recognises_nbgrader, read_nbgrader),
    "plain": Layout("a folder with one entry per submission", lambda listing: True, read_plain),
}
"""By name, in the order in which they are tried.

Students choose parts of names, and one of them must not decide for the class: each platform's layout is that of most
entries. Numbers that Canvas puts before a student's file name are surer than what Moodle does.
"""
NO_TIME = "none, although others have one"


def read_download(folder: Path, assignment: Assignment, layout: str | None = None) -> Download:
    """Finds the submissions in an unpacked download; one more folder may lie around them.

    The layout is one of LAYOUTS; None = the first that recognises the folder.

    Raises: UserError where there is no submission in it, or it is a submission itself.
    """
    files, listing = assignment.contract.files, list_folder(folder)
    modules = [name for name in listing.files if name in files]
    others = [*listing.folders, *filter(holds_a_submission, listing.files)]
    if len(modules) > len(others) or (modules and others == [assignment.package]):
        what = f"contains {modules[0]}, so it is a submission itself"
        raise UserError(f"{folder}: {what}; grade it with `grade {folder}`")
    if layout is None and (inner := extra_folder(listing, files)):
        listing = list_folder(folder / inner)
    name = layout or platform_of(listing)
    submissions, strays = LAYOUTS[name].read(listing)
    if not submissions:
        raise UserError(f"{listing.path}: no submission in it; expected one folder, archive or notebook each")
    if any(one.submitted for one in submissions):
        undated = [one for one in submissions if not one.submitted and not one.unread_time]
        submissions = [replace(one, unread_time=NO_TIME) if one in undated else one for one in submissions]
    return Download(
        name,
        listing.path,
        tuple(sorted(submissions, key=lambda one: one.entry)),
        tuple(sorted((*strays, *listing.others), key=lambda stray: stray.entry)),
    )


def extra_folder(listing: Listing, files: Collection[str]) -> str | None:
    """The only folder in a download, if it is not a submission but holds them."""
    if len(listing.folders) != 1 or any(map(holds_a_submission, listing.files)) or platform_of(listing) != "plain":
        return None
    inner = peek(listing.path / listing.folders[0])
    is_submission = any(name in files or name.endswith(".ipynb") for name in inner.files)
    n_inside = len(inner.folders) + sum(map(holds_a_submission, inner.files))
    holds_them = platform_of(inner) != "plain" or (n_inside > 1 and not is_submission)
    return listing.folders[0] if holds_them else None


def platform_of(listing: Listing) -> str:
    """The first layout that recognises a folder."""
    return next(name for name, kind in LAYOUTS.items() if kind.recognises(listing))
