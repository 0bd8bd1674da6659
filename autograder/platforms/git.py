"""Clones of git repositories.

GitHub Classroom: clones named `ASSIGNMENT-USERNAME`, each with its `.git`, in a folder that `gh` names
`ASSIGNMENT-submissions`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..classroom.handed_in import HandedIn, Listing, Person, Stray
from .platform import Platform, Read


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


GIT = Platform("clones of git repositories", recognises_github, read_github)
