"""Gradescope; what its container runs is `reports.gradescope`.

Its export has `submission_metadata.yml` beside a folder `submission_NUMBER` for each submission.

The metadata name the submitters, all partners of a group, and the time; keys have a colon in front. They quote what
submitted code printed, so they are read as plain data.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from foundation.command_line import UserError
from foundation.texts import printable

from .platform import HandedIn, Listing, Person, Platform, Read, Stray, read_time

METADATA = "submission_metadata.yml"
GRADESCOPE_FOLDER = re.compile(r"submission_\d+")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _recognises(listing: Listing) -> bool:
    """True if the metadata are there, beside folders that are mostly named as Gradescope names them."""
    named = [name for name in listing.folders if GRADESCOPE_FOLDER.fullmatch(name)]
    return METADATA in listing.files and 2 * len(named) > len(listing.folders)


def _read(listing: Listing) -> Read:
    metadata = _metadata_in(listing.path / METADATA)
    submissions = []
    named = [*listing.folders, *(name for name in listing.files if name != METADATA)]
    strays = [Stray(name, "not mentioned in the metadata") for name in named if name not in metadata]
    strays += [Stray(name, "mentioned in the metadata, but not there") for name in metadata.keys() - {*named}]
    for name in (name for name in listing.folders if name in metadata):
        people = tuple(_person(entry) for entry in metadata[name].get(":submitters") or ())
        ids = [next(iter(person.ids.values()), "") for person in people]
        owner = "+".join(sorted(ids)) if ids and all(ids) else name  # each attempt has another number
        written = metadata[name].get(":created_at")
        time = read_time(str(written))  # YAML reads some ways of writing a time, and leaves others as text
        unread = f"{printable(str(written), 40)!r} as :created_at" if time is None and written is not None else ""
        submissions.append(HandedIn(name, listing.path / name, people, owner, submitted=time, unread_time=unread))
    return submissions, strays


def _person(entry: Mapping[str, Any]) -> Person:
    ids = {kind: str(entry[key]) for kind, key in (("number", ":sid"), ("email", ":email")) if entry.get(key)}
    return Person(str(entry.get(":name") or ""), ids)


def _metadata_in(path: Path) -> dict[str, dict[str, Any]]:
    try:
        content = yaml.load(path.read_bytes(), Loader=LOADER)  # noqa: S506  a safe loader
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict) or not all(isinstance(entry, dict) for entry in content.values()):
        raise UserError(f"{path}: not of Gradescope's shape: expected a table of submissions")
    return {str(name): entry for name, entry in content.items()}


GRADESCOPE = Platform("Gradescope", _recognises, _read)
