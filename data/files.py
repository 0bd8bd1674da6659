"""The files of a corpus: their names, the manifest of the bundled one, and the folders of the command line."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foundation.command_line import UserError

SEPARATOR = "|||"
DATA_FOLDER = Path(__file__).resolve().parent
MANIFEST = DATA_FOLDER / "manifest.json"
GENERATED = DATA_FOLDER / "private" / "generated.json"
"""The manifest of the last corpus that `generate` wrote, recorded as the course's or not."""
TRAIN, DEV = "corpus/fren.train.bpe", "corpus/fren.dev.bpe"
TEST_SOURCE, TEST = "corpus/fren.test.src.bpe", "private/fren.test.bpe"
TRAIN_ALIGN, DEV_ALIGN, TEST_ALIGN = (f"private/fren.{split}.align" for split in ("train", "dev", "test"))
SAMPLE_ALIGN = "corpus/fren.dev.align"


class CorpusError(UserError):
    """A file of the corpus is missing or wrong; the message names it and what would be right."""


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`: seeds, sizes and a checksum of each file."""

    seed: int
    test_seed: int
    counts: dict[str, int]
    vocabulary: dict[str, int]
    files: dict[str, str]

    def to_json(self) -> bytes:
        """The file's content."""
        return f"{json.dumps(vars(self), indent=2, sort_keys=True)}\n".encode()

    def differences(self, files: Mapping[str, bytes], whose: str) -> list[str]:
        """A line for each file whose bytes differ from those recorded."""
        sums = {name: checksum(files[name]) for name in self.files}
        return [
            f"{name}: {whose} has sha256 {sums[name][:12]}, the manifest {recorded[:12]}"
            for name, recorded in self.files.items()
            if sums[name] != recorded
        ]


def checksum(content: bytes) -> str:
    """The sha256 of a file."""
    return hashlib.sha256(content).hexdigest()


def read_manifest(path: Path) -> Manifest:
    """The manifest on disk.

    Raises:
        CorpusError: if it is missing or lacks a field.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Manifest(**{name: content[name] for name in Manifest.__dataclass_fields__})
    except FileNotFoundError:
        raise CorpusError(f"{path}: there is no manifest") from None
    except (ValueError, KeyError, TypeError) as problem:
        raise CorpusError(f"{path}: not a manifest: {type(problem).__name__} {problem}") from None


def files_of_others(recorded: Manifest) -> list[str]:
    """Return the names of files in `data/` that a corpus consists of and that the generator has not written."""
    manifests = [recorded, *([read_manifest(GENERATED)] if GENERATED.is_file() else [])]
    present = [name for name in (TRAIN, DEV, TEST_SOURCE, TEST) if (DATA_FOLDER / name).is_file()]
    sums = {name: checksum((DATA_FOLDER / name).read_bytes()) for name in present}
    return [name for name in present if sums[name] not in [manifest.files.get(name) for manifest in manifests]]


def read_folder(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Reads the corpus's files from disk.

    Raises:
        CorpusError: if a file is missing.
    """
    try:
        return {name: (folder / name).read_bytes() for name in names}
    except OSError as problem:
        raise CorpusError(f"{problem.filename}: missing; 'python -m data generate' writes it") from None


def output_folder(text: str) -> Path:
    """Reads the name of a folder to write to; refuses an empty one (from an unset shell variable)."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; write '.' for the current folder")
    return Path(text)
