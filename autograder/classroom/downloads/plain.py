"""No platform's layout: each folder, archive or notebook is a submission, named after the student."""

from __future__ import annotations

from foundation.contract import Contract

from ...intake import name_of
from .handed_in import HandedIn, Person, Stray
from .listing import Listing, holds_a_submission


def recognises(listing: Listing, contract: Contract) -> bool:
    """Always: it is what remains."""
    return True


def read(listing: Listing, contract: Contract) -> tuple[list[HandedIn], list[Stray]]:
    """The submissions and the strays."""
    names = [*listing.folders, *filter(holds_a_submission, listing.files)]
    submissions = []
    for name in sorted(names):
        person = Person(name_of(listing.path / name), {"login": name_of(listing.path / name)})
        submissions.append(HandedIn(name, listing.path / name, (person,), name))
    reason = "neither a folder, an archive nor a notebook"
    return submissions, [Stray(name, reason) for name in listing.files if not holds_a_submission(name)]
