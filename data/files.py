"""What all corpora share as files: the separator of a pair, and writing several files whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from foundation.command_line import UserError

SEPARATOR = "|||"


class CorpusError(UserError):
    """A file of the corpus is missing or wrong; the message says which, and what would be right."""


def write_files(folder: Path, files: Mapping[str, bytes], outdated: Iterable[str] = ()) -> None:
    """Writes all files beside their places first, then moves them there, so that none is ever half written.

    Args:
        folder: where they belong.
        files: content by path below the folder.
        outdated: files that are removed once all others are safely on the disk.

    Raises:
        CorpusError: if one cannot be written.
    """
    waiting: list[tuple[Path, Path]] = []
    try:
        for name, content in files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            part = place.with_name(f".{place.name}.{os.getpid()}.part")
            waiting.append((part, place))
            part.write_bytes(content)
        for name in outdated:
            (folder / name).unlink(missing_ok=True)
        for part, place in waiting:
            part.replace(place)
    except OSError as problem:
        where = problem.filename or folder
        raise CorpusError(f"{where}: cannot write the corpus: {problem.strerror or problem}") from None
    finally:
        for part, _ in waiting:
            part.unlink(missing_ok=True)
