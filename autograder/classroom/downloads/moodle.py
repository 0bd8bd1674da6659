"""Moodle: `NAME_NUMBER_assignsubmission_file_` as a folder per student, or as the beginning of each file's name.

The number is the participant's, as in the column Identifier of the grading worksheet; a group has its own. Text typed
into Moodle lies beside it as `NAME_NUMBER_assignsubmission_onlinetext_`.
"""

from __future__ import annotations

import re
from collections import defaultdict

from foundation.contract import Contract

from .handed_in import HandedIn, Person, Stray
from .listing import Listing
from .repeated_uploads import LooseFile, gather

ENTRY = re.compile(
    r"(?P<owner>(?P<name>.+?)(?:_(?P<number>\d+))?)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?",
    re.DOTALL,
)


def recognises(listing: Listing, contract: Contract) -> bool:
    """Whether most of the entries are named as Moodle names them."""
    names = (*listing.folders, *listing.files)
    return 2 * sum(ENTRY.fullmatch(name) is not None for name in names) > len(names)


def read(listing: Listing, contract: Contract) -> tuple[list[HandedIn], list[Stray]]:
    """The submissions and the strays."""
    submissions, strays = [], []
    loose: dict[str, list[LooseFile]] = defaultdict(list)
    people = {}
    for name in (*listing.folders, *listing.files):
        found = ENTRY.fullmatch(name)
        if found is None:
            strays.append(Stray(name, "not named as Moodle names submissions"))
        elif found["kind"] == "onlinetext":
            strays.append(Stray(name, "a text typed into Moodle, which only a person can read", (person_of(found),)))
        else:
            people[found["owner"]] = person_of(found)
            if name in listing.folders:
                submissions.append(HandedIn(name, listing.path / name, (people[found["owner"]],), found["owner"]))
            elif found["file"]:
                loose[found["owner"]].append(LooseFile(name, found["file"]))
            else:
                strays.append(Stray(name, "a file without the name that the student gave it"))
    for owner, files in loose.items():
        source, notes = gather(owner, listing.path, files)
        submissions.append(HandedIn(owner, source, (people[owner],), owner, notes=notes))
    return submissions, strays


def person_of(found: re.Match[str]) -> Person:
    """Who handed in an entry, by its name."""
    return Person(found["name"], {"moodle": found["number"]} if found["number"] else {})
