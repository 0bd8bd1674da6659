"""File names for records: harmless ones, and no two the same."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence

from foundation.printable_text import printable

from .errors import ClassError


def record_names(names: Sequence[str]) -> dict[str, str]:
    """The record's file name for each entry; they differ even on systems that ignore case.

    Raises:
        ClassError: for two entries whose names would get the same record name.
    """
    plain = Counter(file_name(name).casefold() for name in names)
    made = {name: file_name(name) if plain[file_name(name).casefold()] == 1 else with_digest(name) for name in names}
    owners: dict[str, str] = {}
    for name, one in made.items():
        other = owners.setdefault(one.casefold(), name)
        if other != name:
            both = f"{printable(other, 60)} and {printable(name, 60)}"
            raise ClassError(f"{both} would have the same record; rename one of them")
    return made


def file_name(name: str) -> str:
    """The name itself if it is a safe file name and does not look derived from another one; else a derived one."""
    if re.fullmatch(r"[\w@+-][\w.@+-]{0,99}", name, re.ASCII) and not re.search(r"-[0-9a-f]{8}$", name, re.IGNORECASE):
        return name
    return with_digest(name)


def with_digest(name: str) -> str:
    """A file name derived from any name."""
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9@+-]+', '_', name)[:60]}-{digest}"
