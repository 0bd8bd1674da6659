"""Finds the submissions of a class in a folder, as each platform lays them out; what fits no layout is a stray."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.command_line import UserError

from ..intake.submission import name_of
from .blackboard import BLACKBOARD
from .brightspace import BRIGHTSPACE
from .canvas import CANVAS
from .git import GIT
from .gradescope import GRADESCOPE
from .moodle import MOODLE
from .nbgrader import NBGRADER
from .platform import Download, HandedIn, Listing, Person, Platform, Read, Stray, holds_a_submission, list_folder, peek


def _read_plain(listing: Listing) -> Read:
    submissions = []
    for name in sorted((*listing.folders, *filter(holds_a_submission, listing.files))):
        student = name_of(listing.path / name)
        submissions.append(HandedIn(name, listing.path / name, (Person(student, {"login": student}),), name))
    reason = "neither a folder, an archive nor a notebook"
    return submissions, [Stray(name, reason) for name in listing.files if not holds_a_submission(name)]


PLATFORMS = {
    "gradescope": GRADESCOPE,
    "brightspace": BRIGHTSPACE,
    "blackboard": BLACKBOARD,
    "canvas": CANVAS,
    "moodle": MOODLE,
    "git": GIT,
    "nbgrader": NBGRADER,
    "plain": Platform("a folder with one entry per submission", lambda listing: True, _read_plain),
}
"""By name, in the order in which they are tried.

Students choose parts of names, and one of them must not decide for the class: each platform's layout is that of most
entries. Dates that Brightspace and Blackboard write are surer than numbers, and numbers that Canvas puts before a
student's file name are surer than what Moodle does.
"""
NO_TIME = "none, although most others have one"


def read_download(
    folder: Path, assignment: Assignment, layout: str | None = None, deadline: datetime | None = None
) -> Download:
    """Finds the submissions in an unpacked download; one more folder may lie around them.

    The layout is one of PLATFORMS; None = the first that recognises the folder. With a deadline, of clones the last
    commit before it is read. Raises: UserError where there is no submission in it, or it is a submission itself.
    """
    files, listing = assignment.contract.files, list_folder(folder)
    modules = [name for name in listing.files if name in files]
    others = [*listing.folders, *filter(holds_a_submission, listing.files)]
    if len(modules) > len(others) or (modules and others == [assignment.package]):
        why = f"contains {modules[0]}, so it is a submission itself"
        raise UserError(f"{folder}: {why}; grade it with `grade {folder}`")
    if layout is None and (inner := extra_folder(listing, files)):
        listing = list_folder(folder / inner)
    name = layout or _platform_of(listing)
    platform = PLATFORMS[name]
    if deadline is None:
        submissions, strays = platform.read(listing)
    elif platform.before is None:
        raise UserError(f"--deadline: {listing.path} has no commits (layout: {platform.title}); leave it out")
    else:
        submissions, strays = platform.before(listing, deadline)
    if not submissions:
        if deadline and strays:
            why = f"{strays[0].entry}: {strays[0].reason}"
        else:
            kinds = [platform] if platform.example else [kind for kind in PLATFORMS.values() if kind.example]
            names = ", ".join(f"{kind.example!r} ({kind.title})" for kind in kinds)
            why = f"expected one folder, archive or notebook each, or names such as {names}"
        raise UserError(f"{listing.path}: no submission in it (layout: {platform.title}); {why}")
    dated = [bool(each.submitted or each.unread_time) for each in submissions]
    if 2 * sum(dated) > len(submissions):  # a few times may be students' own
        pairs = zip(submissions, dated, strict=True)
        submissions = [each if is_dated else replace(each, unread_time=NO_TIME) for each, is_dated in pairs]
    return Download(
        name,
        listing.path,
        tuple(sorted(submissions, key=lambda submission: submission.entry)),
        tuple(sorted((*strays, *listing.others), key=lambda stray: stray.entry)),
    )


def extra_folder(listing: Listing, files: Collection[str]) -> str | None:
    """The only folder in a download, if it is not a submission but holds them."""
    if len(listing.folders) != 1 or any(map(holds_a_submission, listing.files)) or _platform_of(listing) != "plain":
        return None
    inner = peek(listing.path / listing.folders[0])
    n_loose = sum(name in files or name.endswith(".ipynb") for name in inner.files)
    n_inside = len(inner.folders) + sum(map(holds_a_submission, inner.files))
    is_submission = 2 * n_loose >= n_inside  # a few may be one student's, who must not decide for the class
    holds_them = _platform_of(inner) != "plain" or (n_inside > 1 and not is_submission)
    return listing.folders[0] if holds_them else None


def _platform_of(listing: Listing) -> str:
    return next(name for name, kind in PLATFORMS.items() if kind.recognises(listing))
