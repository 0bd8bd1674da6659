"""The files of a corpus: their names, what made them, and the folders of the command line."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foundation.command_line import UserError
from foundation.whole_files import write_whole

SEPARATOR = "|||"
DATA_FOLDER = Path(__file__).resolve().parent
MANIFEST = "manifest.json"
"""Seeds and sizes of the course's corpus, and a checksum of each file."""
GENERATED = "private/generated.json"
"""The same of the last corpus that `generate` wrote, recorded as the course's or not."""
TRAIN, DEV = "corpus/fren.train.bpe", "corpus/fren.dev.bpe"
TEST_SOURCE, TEST = "corpus/fren.test.src.bpe", "private/fren.test.bpe"

Manifest = dict[str, Any]


class CorpusError(UserError):
    """A file of the corpus is missing or wrong; the message names it and what would be right."""


def checksum(content: bytes) -> str:
    """The sha256 of a file."""
    return hashlib.sha256(content).hexdigest()


def read_manifest(name: str = MANIFEST) -> Manifest:
    """The manifest of `data/`."""
    return dict(json.loads((DATA_FOLDER / name).read_bytes()))


def files_of_others() -> list[str]:
    """Return the names of files in `data/` that a corpus consists of and that the generator has not written."""
    recorded = [read_manifest(name)["files"] for name in (MANIFEST, GENERATED) if (DATA_FOLDER / name).is_file()]
    present = [name for name in (TRAIN, DEV, TEST_SOURCE, TEST) if (DATA_FOLDER / name).is_file()]
    sums = {name: checksum((DATA_FOLDER / name).read_bytes()) for name in present}
    return [name for name in present if sums[name] not in [files.get(name) for files in recorded]]


def write_corpus(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a corpus; the word alignments that earlier versions of the kit put beside them go."""
    for old in folder.glob("*/fren.*.align"):
        old.unlink()
    for name, content in contents.items():
        write_whole(folder / name, content)


def output_folder(text: str) -> Path:
    """Reads the name of a folder to write to; refuses an empty one (from an unset shell variable)."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; write '.' for the current folder")
    return Path(text)
