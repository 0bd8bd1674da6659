"""Gradescope's export: `submission_metadata.yml` beside a folder `submission_NUMBER` for each submission.

The metadata name the submitters, all partners of a group, and the time. They quote what submitted code printed, so
they are read as plain data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import yaml

from foundation.contract import Contract
from foundation.printable_text import printable

from ...intake.errors import IntakeError, RefusedError
from ...intake.files.tree import read_file
from .handed_in import DownloadError, HandedIn, Person, Stray
from .listing import Listing
from .times import read_time

METADATA = "submission_metadata.yml"
FOLDER = re.compile(r"submission_\d+")
MOST_BYTES = 500_000_000  # it holds all results, some hundred kilobytes a submission at most
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def recognises(listing: Listing, contract: Contract) -> bool:
    """Whether the metadata are there, beside folders that are mostly named as Gradescope names them."""
    named = [name for name in listing.folders if FOLDER.fullmatch(name)]
    return METADATA in listing.files and 2 * len(named) > len(listing.folders)


def read(listing: Listing, contract: Contract) -> tuple[list[HandedIn], list[Stray]]:
    """The submissions and the strays.

    Raises:
        DownloadError: where the metadata cannot be used.
    """
    metadata = read_metadata(listing)
    submissions = []
    strays = [Stray(name, "not mentioned in the metadata") for name in listing.files if name != METADATA]
    for name in listing.folders:
        if name not in metadata:
            strays.append(Stray(name, "not mentioned in the metadata"))
            continue
        people = tuple(person_of(submitter) for submitter in metadata[name].get(":submitters") or ())
        written = metadata[name].get(":created_at")
        time = time_of(written)
        unread = f"{printable(str(written), 40)!r} as :created_at" if time is None and written is not None else ""
        owner = owner_of(people) or name
        submissions.append(HandedIn(name, listing.path / name, people, owner, submitted=time, unread_time=unread))
    strays += [Stray(name, "mentioned in the metadata, but not there") for name in metadata.keys() - {*listing.folders}]
    return submissions, strays


def read_metadata(listing: Listing) -> dict[str, dict[str, Any]]:
    """The metadata of each submission, by the name of its folder."""
    path = listing.path / METADATA
    try:
        content = yaml.load(read_file(path, MOST_BYTES), Loader=LOADER)  # noqa: S506  a safe loader
    except (IntakeError, RefusedError) as error:
        raise DownloadError(f"{path}: {error}") from None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:  # `!!int ""`, for one
        raise DownloadError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict) or not all(isinstance(entry, dict) for entry in content.values()):
        raise DownloadError(f"{path}: not of Gradescope's shape: expected a table of submissions")
    for name, entry in content.items():
        submitters = entry.get(":submitters") or []
        if not isinstance(submitters, list) or not all(isinstance(submitter, dict) for submitter in submitters):
            what = f"{printable(str(name), 60)}: expected :submitters to be a list of tables"
            raise DownloadError(f"{path}: not of Gradescope's shape: {what}")
    return {str(name): entry for name, entry in content.items()}


def person_of(submitter: dict[str, Any]) -> Person:
    """A submitter; Gradescope writes keys with a colon in front."""
    kinds = {"number": ":sid", "email": ":email"}
    ids = {kind: str(submitter[key]) for kind, key in kinds.items() if submitter.get(key)}
    return Person(str(submitter.get(":name") or ""), ids)


def owner_of(people: Sequence[Person]) -> str:
    """Submitters by their ids: the submission's number is another one after each attempt."""
    ids = [next(iter(person.ids.values()), "") for person in people]
    return "+".join(sorted(ids)) if all(ids) else ""


def time_of(value: object) -> datetime | None:
    """A time in the metadata, of which YAML reads some ways of writing, and leaves others as text."""
    return read_time(str(value))
