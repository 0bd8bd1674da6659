"""GitHub Classroom: clones named `ASSIGNMENT-USERNAME`, each with its `.git`."""

from __future__ import annotations

import os
from pathlib import Path

from foundation.contract import Contract

from .handed_in import HandedIn, Person, Stray
from .listing import Listing


def recognises(listing: Listing, contract: Contract) -> bool:
    """Whether most folders are clones whose names begin alike."""
    clones = [name for name in listing.folders if is_clone(listing.path / name)]
    return 2 * len(clones) > len(listing.folders) and bool(common_prefix(clones))


def read(listing: Listing, contract: Contract) -> tuple[list[HandedIn], list[Stray]]:
    """The submissions and the strays."""
    strays = [Stray(name, "a file beside the clones") for name in listing.files]
    clones = [name for name in listing.folders if is_clone(listing.path / name)]
    strays += [Stray(name, "not a clone: it has no .git") for name in listing.folders if name not in clones]
    prefix = common_prefix(clones)
    people = {name: Person("", {"github": name.removeprefix(prefix)}) for name in clones}
    return [HandedIn(name, listing.path / name, (people[name],), name) for name in clones], strays


def is_clone(path: Path) -> bool:
    """Whether a folder is a git working tree."""
    return (path / ".git").exists()


def common_prefix(names: list[str]) -> str:
    """What all names begin with, up to a hyphen: that of the assignment; "" where it cannot be told."""
    if len(names) < 2:
        return ""
    prefix = os.path.commonprefix(names)
    return prefix[: prefix.rfind("-") + 1]
