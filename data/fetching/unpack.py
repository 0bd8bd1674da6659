"""Takes plain text out of archives."""

from __future__ import annotations

import html
import re
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..files import CorpusError

DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, UnicodeDecodeError, NotImplementedError)
SEGMENT = re.compile(rb"<seg[^>]*>(.*?)</seg>")


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
    missing = CorpusError(f"{archive}: it has no {member}; the archive is not the expected one")
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as opened:
                if member not in opened.namelist():
                    raise missing
                with opened.open(member) as file:
                    yield file
            return
        with tarfile.open(archive, "r|gz") as stream:  # a stream, so that reading stops at the member
            for info in stream:
                if info.name.removeprefix("./") == member and info.isfile():
                    found = stream.extractfile(info)
                    assert found is not None  # noqa: S101  # only what is not a regular file gives None
                    yield found
                    return
        raise missing
    except DAMAGE as problem:
        raise CorpusError(f"{archive}: damaged: {problem}") from None
    except OSError as problem:
        raise CorpusError(f"{problem.filename or archive}: cannot unpack: {problem.strerror or problem}") from None
