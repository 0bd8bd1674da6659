"""GitHub Classroom: clones named `ASSIGNMENT-USERNAME`, each with its `.git`.

`gh classroom clone` puts them into a folder named `ASSIGNMENT-submissions`.
"""

from __future__ import annotations

import os
from pathlib import Path

from foundation.contract import Contract

from .handed_in import HandedIn, Person, Stray
from .listing import Listing


def recognises(listing: Listing, contract: Contract) -> bool:
    """Whether most folders are clones whose names begin alike."""
    clones = [name for name in listing.folders if is_clone(listing.path / name)]
    return 2 * len(clones) > len(listing.folders) and bool(prefix_of(clones, listing.path))


def read(listing: Listing, contract: Contract) -> tuple[list[HandedIn], list[Stray]]:
    """The submissions and the strays."""
    strays = [Stray(name, "a file beside the clones") for name in listing.files]
    clones = [name for name in listing.folders if is_clone(listing.path / name)]
    strays += [Stray(name, "not a clone: it has no .git") for name in listing.folders if name not in clones]
    prefix = prefix_of(clones, listing.path)
    people = {name: Person("", {"github": name.removeprefix(prefix)}) for name in clones}
    return [HandedIn(name, listing.path / name, (people[name],), name) for name in clones], strays


def is_clone(path: Path) -> bool:
    """Whether a folder is a git working tree."""
    return (path / ".git").exists()


def prefix_of(names: list[str], folder: Path) -> str:
    """What all names begin with, up to a hyphen: that of the assignment; "" where it cannot be told.

    The folder's own name tells it, if it is as `gh` chose it. Otherwise several users whose names begin alike are
    misread (hw1-ann-lee and hw1-ann-kim), which one more user ends.
    """
    name = folder.resolve().name
    slug = name.removesuffix("-submissions")
    if slug != name and names and all(one.startswith(f"{slug}-") for one in names):
        return f"{slug}-"
    if len(names) < 2:
        return ""
    prefix = os.path.commonprefix(names)
    return prefix[: prefix.rfind("-") + 1]
