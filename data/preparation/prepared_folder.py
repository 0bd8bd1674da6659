"""The folder that `prepare` writes to: one corpus at a time, and no file of somebody else is lost.

`summary.json` records each file with its sha256. Preparing again replaces or removes files that are still as
recorded; any other file under one of our names is somebody's work, and a reason to stop.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..files import CorpusError

SUMMARY = "summary.json"
SPLIT_FILE = r"(train|dev|test)\.(bpe|words)"
OURS = re.compile(rf"{SPLIT_FILE}|languages\.json|tokenizer(_[\w-]+)?\.json")


def checksums(files: Mapping[str, bytes]) -> dict[str, str]:
    """Returns the sha256 of each file, for the summary."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def written_before(folder: Path, needed: Iterable[str]) -> list[str]:
    """Returns the names of the files that an earlier `prepare` wrote into `folder`.

    Args:
        folder: to write to.
        needed: names that the new corpus may need, beside those of the splits.

    Raises:
        CorpusError: if a file there has one of our names but is not, or no longer, what it wrote.
    """
    recorded = _recorded(folder / SUMMARY)
    there = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    present = [
        name
        for name in there
        if OURS.fullmatch(name) and (name in recorded or name in needed or re.fullmatch(SPLIT_FILE, name))
    ]
    for name in present:
        why = "changed since 'prepare' wrote it" if name in recorded else "not written by an earlier 'prepare'"
        if recorded.get(name) != _checksum(folder / name):
            raise CorpusError(f"{folder / name}: {why}; move it away, or choose another --output")
    return present


def _recorded(summary: Path) -> dict[str, Any]:
    if not os.path.lexists(summary):
        return {}
    try:
        files = json.loads(summary.read_bytes())["files"]
        if isinstance(files, dict):
            return files
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise CorpusError(f"{summary}: not written by an earlier 'prepare'; move it away, or choose another --output")


def _checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:  # a folder or a broken link: not ours
        return ""
