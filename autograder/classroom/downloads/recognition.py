"""Finds the submissions of a class in a folder, whichever platform it comes from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.assignment_tables import Contract
from foundation.command_line import UserError
from foundation.texts import printable

from .handed_in import Download, Listing, holds_a_submission, list_folder, peek
from .platforms import LAYOUTS

NO_TIME = "none, although others have one"


def read_download(folder: Path, assignment: Assignment, layout: str | None = None) -> Download:
    """Finds the submissions in an unpacked download; one more folder may lie around them.

    The layout is one of LAYOUTS; None = the first that recognises the folder.

    Raises:
        UserError: where there is no submission in it, or it is a submission itself.
    """
    if layout is not None and layout not in LAYOUTS:
        raise UserError(f"layout {printable(layout, 40)!r}: expected one of {', '.join(LAYOUTS)}")
    contract, listing = assignment.contract, list_folder(folder)
    modules = [name for name in listing.files if name in contract.files]
    others = [*listing.folders, *filter(holds_a_submission, listing.files)]
    if len(modules) > len(others) or (modules and others == [assignment.package]):
        what = f"contains {modules[0]}, so it is a submission itself"
        raise UserError(f"{folder}: {what}; grade it with `grade {folder}`")
    if inner := extra_folder(listing, contract, layout):
        listing = list_folder(folder / inner)
    name = layout or next(name for name, kind in LAYOUTS.items() if kind.recognises(listing))
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


def extra_folder(listing: Listing, contract: Contract, layout: str | None) -> str | None:
    """The only folder in a download, if it is not a submission but holds them."""
    if len(listing.folders) != 1 or any(map(holds_a_submission, listing.files)):
        return None
    inner = peek(listing.path / listing.folders[0])
    platforms = [kind for name, kind in LAYOUTS.items() if name != "plain" and layout in (None, name)]
    if any(kind.recognises(listing) for kind in platforms):
        return None
    if any(kind.recognises(inner) for kind in platforms):
        return listing.folders[0]
    is_submission = any(name in contract.files or name.endswith(".ipynb") for name in inner.files)
    n_inside = len(inner.folders) + sum(map(holds_a_submission, inner.files))
    return listing.folders[0] if layout in (None, "plain") and n_inside > 1 and not is_submission else None
