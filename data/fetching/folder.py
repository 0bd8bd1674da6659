"""The folder of a fetched corpus: which files are there, whether they are right, and the lock that says so.

`fetch.lock.json` records every file with its size and sha256. Where the table knows no checksum, the record of the
first fetch is the one that later fetches are held to.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ..files import CorpusError, write_files
from .download import discard, part_of
from .table import PublicCorpus, RemoteFile
from .unpack import looks_like_its_name, write_text

LOCK = "fetch.lock.json"


class ChecksumError(CorpusError):
    """A file that arrived whole, but is not the expected one."""


class FetchFolder:
    """A folder with the files of one corpus.

    Args:
        path: the folder; need not exist.
        corpus: what belongs there.

    Raises:
        CorpusError: if a file there has a name of ours but is not, or no longer, what was fetched.
    """

    def __init__(self, path: Path, corpus: PublicCorpus) -> None:
        self.path = path
        self.corpus = corpus
        self.records = _read_lock(path / LOCK, corpus.name)
        known = {file.name: file.checksum for file in corpus.files}
        self.present = {name for name in (*known, *corpus.texts) if self._is_right(name, known.get(name, ""))}

    def _is_right(self, name: str, checksum: str) -> bool:
        """False if it is missing; raises if it is wrong."""
        place = self.path / name
        if not os.path.lexists(place):
            return False
        record = self.records.get(name)
        expected = f"sha256:{record['sha256']}" if record else checksum
        if not expected:
            raise CorpusError(f"{place}: not written by an earlier 'fetch'; move it away, or choose another --output")
        if not _matches(place, expected):
            raise CorpusError(f"{place}: not as 'fetch' wrote it; move it away, or choose another --output")
        return True

    def accept(self, file: RemoteFile, url: str) -> None:
        """Checks what was downloaded, records it, and moves it to its place.

        Raises:
            ChecksumError: if it is not the expected file; what arrived is removed.
            CorpusError: if it cannot be moved.
        """
        place = self.path / file.name
        part = part_of(place)
        locked = self.records.get(file.name, {}).get("sha256")
        for expected, origin in (
            (file.checksum, "the table of corpora"),
            (
                f"sha256:{locked}" if locked else "",
                f"{self.path / LOCK}; if the corpus was renewed, choose another --output",
            ),
        ):
            if expected and not _matches(part, expected):
                kind = expected.partition(":")[0]
                found = f"{kind}:{_digest(part, kind)}"
                discard(part)
                raise ChecksumError(f"{url}: its checksum is {found}, not {expected} as in {origin}")
        if not looks_like_its_name(part, file.name):
            discard(part)
            raise ChecksumError(f"{url}: what the server sent is not a {Path(file.name).suffix} file")
        self._record(file.name, part, url=url)
        _move(part, place)
        discard(part)
        self.present.add(file.name)

    def unpack(self, renewed: set[str]) -> list[str]:
        """Makes the plain text files that are missing, or whose archives are new; returns their names."""
        made = []
        for name, members in self.corpus.texts.items():
            if name in self.present and not {member.partition(":")[0] for member in members} & renewed:
                continue
            place = self.path / name
            part = part_of(place)
            try:
                write_text(self.path, members, part)
                self._record(name, part)
                _move(part, place)
            finally:
                part.unlink(missing_ok=True)
            made.append(name)
        return made

    def _record(self, name: str, content: Path, **more: str) -> None:
        self.records[name] = {**more, "bytes": content.stat().st_size, "sha256": _digest(content, "sha256")}
        lock = {"corpus": self.corpus.name, "files": self.records}
        write_files(self.path, {LOCK: (json.dumps(lock, indent=2) + "\n").encode()})


def _read_lock(path: Path, corpus: str) -> dict[str, dict[str, Any]]:
    if not os.path.lexists(path):
        return {}
    try:
        lock = json.loads(path.read_bytes())
        files = lock["files"]
        if not all(isinstance(record["sha256"], str) for record in files.values()):
            raise TypeError
        belongs = str(lock["corpus"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise CorpusError(f"{path}: not written by 'fetch'; move it away, or choose another --output") from None
    if belongs != corpus:
        raise CorpusError(f"{path}: it belongs to {belongs}, not {corpus}; choose another --output")
    return dict(files)


def _digest(path: Path, kind: str) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()
    except OSError as problem:
        raise CorpusError(f"{path}: {problem.strerror or problem}") from None


def _matches(path: Path, expected: str) -> bool:
    kind, _, digest = expected.partition(":")
    return _digest(path, kind) == digest


def _move(part: Path, place: Path) -> None:
    try:
        part.replace(place)
    except OSError as problem:
        raise CorpusError(f"{place}: cannot write: {problem.strerror or problem}") from None
