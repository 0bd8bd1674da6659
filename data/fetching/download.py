"""Downloads one file by HTTP, resumed where it broke off, and takes plain text out of archives.

What has arrived lies in `NAME.part`. Its time of change is set to the server's `Last-Modified`, and the rest is asked
for under that condition, so bytes of two versions are never joined.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
import shutil
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate, parsedate_to_datetime
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from tqdm import tqdm

from ..files import CorpusError

TIMEOUT = 30  # seconds without a byte
LONGEST_PAUSE = 60  # seconds
CHUNK = 1 << 16
MAY_PASS = {408, 416, 425, 429, 500, 502, 503, 504}
AGENT = "Mozilla/5.0 (compatible; transformer-assignment; python -m data fetch)"  # some sites refuse Python's own name
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, UnicodeDecodeError, NotImplementedError)
SEGMENT = re.compile(rb"<seg[^>]*>(.*?)</seg>")

pause = time.sleep


def check_url(url: str) -> None:
    """Raises a CorpusError if `url` is not a well-formed address of http or https."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # such as a port that is not a number
        is_address = False
    if not is_address or not url.isascii() or not url.isprintable() or " " in url:
        raise CorpusError(f"--url {url!r}: not an address that begins with http:// or https://")


def download(url: str, place: Path, checksum: str, retries: int) -> None:
    """Downloads `url` to `place`, with a progress bar; goes on where an earlier call broke off.

    Args:
        url: of http or https.
        place: the file to write, in a folder that exists.
        checksum: `sha256:…` or `md5:…`; empty if none is known.
        retries: attempts after one that failed. Every attempt that gets further than all before starts the count anew.

    Raises:
        CorpusError: if the file cannot be had or written, or is not the expected one.
    """
    part = place.with_name(f"{place.name}.part")
    farthest, failures = _size(part), 0
    with tqdm(desc=place.name, unit="B", unit_scale=True, unit_divisor=1024, leave=False, disable=None) as bar:
        while reason := _attempt(url, part, bar):
            if _size(part) > farthest:
                farthest, failures = _size(part), 0
            failures += 1
            if failures > retries:
                resume = "; the same command resumes" if _size(part) else ""
                attempts = "1 attempt" if failures == 1 else f"{failures} attempts"
                raise CorpusError(f"{url}: {reason}; gave up after {attempts}{resume}")
            seconds = min(LONGEST_PAUSE, 2 ** (failures - 1))
            bar.write(f"{url}: {reason}; next attempt in {seconds} s", file=sys.stderr)
            pause(seconds)
    if checksum and (found := digest(part, checksum)) != checksum:
        part.unlink()
        raise CorpusError(f"{url}: its checksum is {found}, not {checksum} as in the table of corpora")
    if not _looks_like_its_name(part, place.name):
        part.unlink()
        raise CorpusError(f"{url}: what the server sent is not a {place.suffix} file")
    part.replace(place)


def _attempt(url: str, part: Path, bar: tqdm[Any]) -> str:
    """Takes what is missing, or the whole file if it has changed; returns why that failed, if it may pass."""
    try:
        _take(url, part, bar)
    except HTTPError as problem:
        problem.close()
        if problem.code == 416:  # there is no such range: the file is another one now
            part.unlink(missing_ok=True)
        if problem.code not in MAY_PASS:
            raise CorpusError(f"{url}: HTTP {problem.code} {problem.reason}") from None
        return f"HTTP {problem.code} {problem.reason}"
    except (OSError, HTTPException) as problem:
        if filename := getattr(problem, "filename", None):
            raise CorpusError(f"{filename}: cannot write: {getattr(problem, 'strerror', problem)}") from None
        cause = problem.reason if isinstance(problem, URLError) else problem
        return " ".join((getattr(cause, "strerror", None) or str(cause) or type(cause).__name__).split())
    return ""


def _take(url: str, part: Path, bar: tqdm[Any]) -> None:
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    offset = _size(part)
    if offset and (changed := part.stat().st_mtime):
        headers |= {"Range": f"bytes={offset}-", "If-Range": formatdate(changed, usegmt=True)}
    with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as response:  # noqa: S310  # see `check_url`
        if response.status != 206:
            offset = 0
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {offset}-"):
            raise HTTPException("the server sent a range that was not asked for")
        length, date = response.headers.get("Content-Length", ""), response.headers.get("Last-Modified")
        changed = parsedate_to_datetime(date).timestamp() if date else 0  # then the next attempt begins anew
        total = offset + int(length) if length.isdecimal() else None
        bar.total = total
        bar.update(offset - bar.n)
        try:
            with part.open("ab" if offset else "wb") as file:
                while chunk := response.read(CHUNK):
                    file.write(chunk)
                    bar.update(len(chunk))
        finally:
            if part.exists():
                os.utime(part, (changed, changed))
    if total is not None and _size(part) != total:
        raise HTTPException(f"the connection ended after {_size(part):,} of {total:,} bytes")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def digest(path: Path, like: str) -> str:
    """Returns the checksum of a file, `sha256:…` or `md5:…` as `like` is. Raises: CorpusError."""
    kind = like.partition(":")[0]
    try:
        with path.open("rb") as file:
            return f"{kind}:{hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()}"
    except OSError as problem:
        raise CorpusError(f"{path}: {problem.strerror or problem}") from None


def _looks_like_its_name(path: Path, name: str) -> bool:
    """Tells an archive from the web page that some servers send in its place."""
    if name.endswith(".zip"):
        return zipfile.is_zipfile(path)
    if name.endswith((".gz", ".tgz")):
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    return True


def write_text(folder: Path, members: list[str], place: Path) -> None:
    """Writes the members of archives in `folder`, one after the other, to `place`, whole or not at all.

    Args:
        folder: where the archives lie.
        members: `archive:member`; of an `.sgm` member, the segments, one a line.
        place: the file to write.

    Raises:
        CorpusError: if an archive is damaged or lacks the member, or `place` cannot be written.
    """
    part = place.with_name(f"{place.name}.part")
    try:
        for position, name in enumerate(members):
            archive, _, member = name.partition(":")
            with _open_member(folder / archive, member) as source, part.open("ab" if position else "wb") as target:
                if member.endswith(".sgm"):
                    for segment in SEGMENT.findall(source.read()):
                        target.write(html.unescape(segment.decode("utf-8")).strip().encode() + b"\n")
                    continue
                shutil.copyfileobj(source, target, 1 << 20)
            with part.open("rb+") as target:
                if target.seek(0, 2) and target.seek(-1, 2) >= 0 and target.read() != b"\n":
                    target.write(b"\n")  # or the next member would go on in this one's last line
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


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
