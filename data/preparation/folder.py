"""The folder that `prepare` writes to: one corpus at a time, and no file of somebody else is lost.

`summary.json` records each file with its sha256. Preparing again replaces or removes files that are still as
recorded; any other file under one of our names is somebody's work, and a reason to stop.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..files import CorpusError

SUMMARY = "summary.json"
SPLIT_FILE = r"(train|dev|test)\.(bpe|words|arrow)"
OURS = re.compile(rf"{SPLIT_FILE}|languages\.json|tokenizer(_[\w-]+)?\.json")


class PreparedFolder:
    """A folder that a corpus is written to, whole or not at all.

    Attributes:
        present: files of an earlier corpus.
        summary: what its `prepare` recorded.
    """

    def __init__(self, path: Path, needed: Iterable[str]) -> None:
        """Looks at what is there.

        Args:
            path: of the folder; it need not exist.
            needed: names that the new corpus may need, beside those of the splits.

        Raises:
            CorpusError: if a file there has one of our names but is not, or no longer, what `prepare` wrote.
        """
        self.path = path
        self.summary = _read_summary(path / SUMMARY)
        recorded = self.summary.get("files", {})
        there = sorted(file.name for file in path.iterdir()) if path.is_dir() else []
        mine = {*recorded, *needed}
        self.present = [
            name for name in there if OURS.fullmatch(name) and (name in mine or re.fullmatch(SPLIT_FILE, name))
        ]
        for name in self.present:
            why = "changed since 'prepare' wrote it" if name in recorded else "not written by an earlier 'prepare'"
            if recorded.get(name) != checksum(path / name):
                raise CorpusError(f"{path / name}: {why}; move it away, or choose another --output")

    @contextmanager
    def workspace(self) -> Iterator[Path]:
        """Makes a folder to write to beside the old files; it is gone when the block ends.

        Raises:
            CorpusError: if it cannot be written to.
        """
        is_new = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".prepare-", dir=self.path) as folder:
                yield Path(folder)
        except OSError as problem:
            where = problem.filename or self.path
            raise CorpusError(f"{where}: cannot write the corpus: {problem.strerror or problem}") from None
        finally:
            if is_new:
                with suppress(OSError):  # it has the corpus, or was never made
                    self.path.rmdir()

    def replace(self, workspace: Path, summary: dict[str, Any]) -> list[str]:
        """Moves the files of a workspace here, with their summary, in place of the earlier corpus.

        Returns:
            The files that were removed since the new corpus has no such file.
        """
        names = sorted(file.name for file in workspace.iterdir())
        summary["files"] = {name: checksum(workspace / name) for name in names}
        (workspace / SUMMARY).write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
        removed = [name for name in self.present if name not in names]
        for name in removed:
            (self.path / name).unlink(missing_ok=True)
        for name in [*names, SUMMARY]:
            (workspace / name).replace(self.path / name)
        return removed


def checksum(path: Path) -> str:
    """Returns the sha256 of a file; nothing for what is not a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:  # a folder or a broken link: not ours
        return ""


def _read_summary(path: Path) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    with suppress(OSError, ValueError, KeyError, TypeError):
        summary = json.loads(path.read_bytes())
        if isinstance(summary["files"], dict):
            return dict(summary)
    raise CorpusError(f"{path}: not written by an earlier 'prepare'; move it away, or choose another --output")
