"""File names for records: harmless ones, and no two the same."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence

FEW, ALL = 8, 64
"""Digits of a name's hash: what two different names may share by chance or by craft, and what none do."""


def record_names(names: Sequence[str]) -> dict[str, str]:
    """The record's file name for each entry; they differ even on systems that ignore case.

    Entries whose names come to the same file name get longer ones; no other entry's name depends on that.
    """
    made = {name: file_name(name) for name in names}
    for digits in (FEW, ALL):
        times = Counter(one.casefold() for one in made.values())
        made = {name: one if times[one.casefold()] == 1 else with_digest(name, digits) for name, one in made.items()}
    return made


def file_name(name: str) -> str:
    """The name itself if it is a safe file name and does not look derived from another one; else a derived one."""
    if re.fullmatch(r"[\w@+-][\w.@+-]{0,99}", name, re.ASCII) and not re.search(r"-[0-9a-f]{8,}$", name, re.IGNORECASE):
        return name
    return with_digest(name, FEW)


def with_digest(name: str, digits: int) -> str:
    """A file name derived from any name."""
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:digits]
    return f"{re.sub(r'[^A-Za-z0-9@+-]+', '_', name)[:60]}-{digest}"
