"""The folder that `prepare` writes to: one corpus at a time, and no file of somebody else is lost.

`summary.json` records each file with its sha256. Preparing again replaces or removes files that are still as
recorded; any other file under one of our names is somebody's work, and a reason to stop.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..files import CorpusError

SUMMARY = "summary.json"
NAMES = (
    *(f"{split}.{encoding}" for split in ("train", "dev", "test") for encoding in ("bpe", "words")),
    *(f"{which}tokenizer.json" for which in ("", "source.", "target.")),
)


def checksums(files: Mapping[str, bytes]) -> dict[str, str]:
    """Returns the sha256 of each file, for the summary."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def written_before(folder: Path) -> list[str]:
    """Returns the names of the files that an earlier `prepare` wrote into `folder`.

    Raises:
        CorpusError: if a file there has one of our names but is not, or no longer, what it wrote.
    """
    recorded = _recorded(folder / SUMMARY)
    present = [name for name in NAMES if os.path.lexists(folder / name)]
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
