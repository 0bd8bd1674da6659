"""The folder of a fetched corpus: which files belong there, whether they are right, and the lock that says so.

`fetch.lock.json` records every file with its size and sha256. Where the table knows no checksum, the record of the
first fetch is the one that later fetches are held to.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import shutil
import tarfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ..files import CorpusError, write_files
from .download import discard, part_of

TABLE = Path(__file__).with_name("corpora.toml")
LOCK = "fetch.lock.json"
ELSEWHERE = "move it away, or choose another --output"
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, UnicodeDecodeError, NotImplementedError)
SEGMENT = re.compile(rb"<seg[^>]*>(.*?)</seg>")


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes:
        name: on disk.
        url: empty if the user has to give it.
        checksum: `sha256:…` or `md5:…`; empty if none is known.
    """

    name: str
    url: str
    checksum: str


@dataclass(frozen=True)
class PublicCorpus:
    """An entry of the table; `corpora.toml` says what each field means."""

    name: str
    title: str
    home: str
    licence: str
    citation: str
    format: str
    dataset: str
    prepare: str
    files: tuple[RemoteFile, ...]
    texts: dict[str, list[str]]


def read_table() -> dict[str, PublicCorpus]:
    """Returns the corpora by name."""
    corpora = {}
    for name, entry in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        files = tuple(RemoteFile(**file) for file in entry.pop("files"))
        corpora[name] = PublicCorpus(name=name, files=files, texts=entry.pop("texts", {}), **entry)
    return corpora


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
        self.present = {name for name in (*known, *corpus.texts) if os.path.lexists(path / name)}
        for name in sorted(self.present):
            expected = self._locked(name) or known.get(name)
            if not expected or digest(path / name, expected) != expected:
                why = "not as 'fetch' wrote it" if expected else "not written by an earlier 'fetch'"
                raise CorpusError(f"{path / name}: {why}; {ELSEWHERE}")

    def _locked(self, name: str) -> str:
        return f"sha256:{self.records[name]['sha256']}" if name in self.records else ""

    def accept(self, file: RemoteFile, url: str) -> None:
        """Checks what was downloaded, records it, and moves it to its place.

        Raises:
            ChecksumError: if it is not the expected file; what arrived is removed.
            CorpusError: if it cannot be moved.
        """
        part = part_of(self.path / file.name)
        origins = {
            file.checksum: "the table of corpora",
            self._locked(file.name): f"{self.path / LOCK}; if the corpus was renewed, choose another --output",
        }
        for expected, origin in origins.items():
            if expected and (found := digest(part, expected)) != expected:
                discard(part)
                raise ChecksumError(f"{url}: its checksum is {found}, not {expected} as in {origin}")
        if not looks_like_its_name(part, file.name):
            discard(part)
            raise ChecksumError(f"{url}: what the server sent is not a {Path(file.name).suffix} file")
        self._keep(file.name, part, url=url)
        discard(part)

    def unpack(self, renewed: set[str]) -> list[str]:
        """Makes the plain text files that are missing, or whose archives are new; returns their names."""
        made = []
        for name, members in self.corpus.texts.items():
            if name in self.present and not {member.partition(":")[0] for member in members} & renewed:
                continue
            part = part_of(self.path / name)
            try:
                write_text(self.path, members, part)
                self._keep(name, part)
            finally:
                part.unlink(missing_ok=True)
            made.append(name)
        return made

    def _keep(self, name: str, part: Path, **more: str) -> None:
        """Records a file and moves it to its place."""
        sha256 = digest(part, "sha256:").partition(":")[2]
        self.records[name] = {**more, "bytes": part.stat().st_size, "sha256": sha256}
        lock = {"corpus": self.corpus.name, "files": self.records}
        write_files(self.path, {LOCK: (json.dumps(lock, indent=2) + "\n").encode()})
        part.replace(self.path / name)


def _read_lock(path: Path, corpus: str) -> dict[str, dict[str, Any]]:
    if not os.path.lexists(path):
        return {}
    try:
        lock = json.loads(path.read_bytes())
        files: dict[str, dict[str, Any]] = {name: {**record} for name, record in lock["files"].items()}
        belongs = lock["corpus"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise CorpusError(f"{path}: not written by 'fetch'; {ELSEWHERE}") from None
    if belongs != corpus:
        raise CorpusError(f"{path}: it belongs to {belongs}, not {corpus}; choose another --output")
    return files


def digest(path: Path, like: str) -> str:
    """Returns the checksum of a file, `sha256:…` or `md5:…` as `like` is."""
    kind = like.partition(":")[0]
    try:
        with path.open("rb") as file:
            return f"{kind}:{hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()}"
    except OSError as problem:
        raise CorpusError(f"{path}: {problem.strerror or problem}") from None


def looks_like_its_name(path: Path, name: str) -> bool:
    """Tells an archive from the web page that some servers send in its place."""
    if name.endswith(".zip"):
        return zipfile.is_zipfile(path)
    if name.endswith((".gz", ".tgz")):
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    return True


def write_text(folder: Path, members: list[str], place: Path) -> None:
    """Writes the members of archives in `folder`, one after the other, to `place`.

    Args:
        folder: where the archives lie.
        members: `archive:member`; of an `.sgm` member, the segments, one a line.
        place: the file to write; half written if this raises.

    Raises:
        CorpusError: if an archive is damaged or lacks the member, or `place` cannot be written.
    """
    for position, name in enumerate(members):
        archive, _, member = name.partition(":")
        with _open_member(folder / archive, member) as source, place.open("ab" if position else "wb") as target:
            if member.endswith(".sgm"):
                for segment in SEGMENT.findall(source.read()):
                    target.write(html.unescape(segment.decode("utf-8")).strip().encode() + b"\n")
                continue
            shutil.copyfileobj(source, target, 1 << 20)
        with place.open("rb+") as target:
            if target.seek(0, 2) and target.seek(-1, 2) >= 0 and target.read() != b"\n":
                target.write(b"\n")  # or the next member would go on in this one's last line


@contextmanager
def _open_member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as opened, opened.open(member) as file:
                yield file
            return
        with tarfile.open(archive, "r|gz") as stream:  # a stream, so that reading stops at the member
            for info in stream:
                if info.name.removeprefix("./") == member and (found := stream.extractfile(info)):
                    yield found
                    return
        raise KeyError(member)
    except KeyError:
        raise CorpusError(f"{archive}: it has no {member}; the archive is not the expected one") from None
    except DAMAGE as problem:
        raise CorpusError(f"{archive}: damaged: {problem}") from None
    except OSError as problem:
        raise CorpusError(f"{problem.filename or archive}: cannot unpack: {problem.strerror or problem}") from None
