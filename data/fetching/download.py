"""Downloads one file by HTTP: resumed where it broke off, and tried again after failures that may pass.

What has arrived lies in `NAME.part`; `NAME.part.json` beside it records which file of the server that is, so bytes of
two versions are never joined. A server's answer to a range is trusted only if it names the range that was asked for
(RFC 9110, section 14).
"""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from io import FileIO
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from ..files import CorpusError

TIMEOUT = 30  # seconds without a byte
LONGEST_PAUSE = 60  # seconds, also if the server asks for more
CHUNK = 1 << 16
MAY_PASS = {408, 425, 429, 500, 502, 503, 504}
AGENT = "Mozilla/5.0 (compatible; transformer-assignment; python -m data fetch)"  # some sites refuse Python's own name

pause = time.sleep


class Progress(Protocol):
    """Called with the bytes that are there and the bytes of the whole file (None if the server does not say)."""

    def __call__(self, done: int, total: int | None) -> object: ...  # noqa: D102  # the class says it


class _MayPass(Exception):  # noqa: N818  # a reason to try again, not an error yet
    """A failure that a later attempt may not meet.

    Attributes:
        wait: seconds that the server asks for.
    """

    def __init__(self, reason: str, wait: int = 0) -> None:
        super().__init__(reason)
        self.wait = wait


def check_url(url: str) -> None:
    """Refuses what cannot be downloaded.

    Raises:
        CorpusError: if `url` is not a well-formed address of http or https.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # such as a port that is not a number
        is_address = False
    if not is_address or not url.isascii() or not url.isprintable() or " " in url:
        raise CorpusError(f"--url {url!r}: not an address that begins with http:// or https://")


def part_of(place: Path) -> Path:
    """Where the bytes of `place` lie until all are there."""
    return place.with_name(f"{place.name}.part")


def discard(part: Path) -> None:
    """Removes what has arrived, and what is known about it."""
    part.unlink(missing_ok=True)
    _record_of(part).unlink(missing_ok=True)


def download(url: str, part: Path, retries: int, progress: Progress, tell: Callable[[str], object]) -> None:
    """Downloads `url` to `part`; goes on where an earlier call broke off.

    Args:
        url: of http or https.
        part: the file to write; complete when this returns.
        retries: attempts after one that failed. Every attempt that gets further than all before starts the count anew.
        progress: called for every chunk.
        tell: called with a line before every pause.

    Raises:
        CorpusError: if the file cannot be had, or cannot be written.
    """
    farthest, failures = _size(part), 0
    while True:
        try:
            _attempt(url, part, progress)
            return
        except _MayPass as failure:
            if _size(part) > farthest:
                farthest, failures = _size(part), 0
            failures += 1
            if failures > retries:
                resume = "; the same command resumes" if _size(part) else ""
                raise CorpusError(
                    f"{url}: {failure}; gave up after {failures} {'attempt' if failures == 1 else 'attempts'}{resume}"
                ) from None
            seconds = min(LONGEST_PAUSE, max(failure.wait, 2 ** (failures - 1)))
            tell(f"{url}: {failure}; next attempt in {seconds} s")
            pause(seconds)


def _attempt(url: str, part: Path, progress: Progress) -> None:
    record = _read_record(part, url)
    offset = _size(part) if record else 0
    if offset and offset == record.get("total"):
        return
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if record.get("validator"):
            headers["If-Range"] = record["validator"]
    try:
        request = Request(url, headers=headers)  # noqa: S310  # `check_url` lets only http and https through
        with urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
            _store(response, url, part, offset, record, progress)
    except HTTPError as problem:
        with problem:
            if problem.code == 416:
                if problem.headers.get("Content-Range") == f"bytes */{offset}":
                    return
                discard(part)
                raise _MayPass("the file on the server is shorter now") from None
            reason = f"HTTP {problem.code} {problem.reason}"
            if problem.code not in MAY_PASS:
                raise CorpusError(f"{url}: {reason}") from None
            asked = problem.headers.get("Retry-After", "")
            raise _MayPass(reason, int(asked) if asked.isdecimal() else 0) from None
    except (OSError, HTTPException) as problem:
        cause = problem.reason if isinstance(problem, URLError) else problem
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise CorpusError(f"{url}: {cause.verify_message}") from None
        text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
        raise _MayPass(" ".join(text.split())) from None


def _store(
    response: HTTPResponse, url: str, part: Path, offset: int, record: dict[str, Any], progress: Progress
) -> None:
    """Appends the answer to a range, or begins again if the server sends the whole file."""
    if response.status == 206:
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        whole = int(found[2]) if found and found[2] != "*" else record.get("total")
        if not found or int(found[1]) != offset or record.get("total") not in (None, whole):
            discard(part)
            raise _MayPass("the server sent a range that was not asked for, or of another file")
        total = whole
    elif response.status == 200:
        length = response.headers.get("Content-Length", "")
        offset, total = 0, int(length) if length.isdecimal() else None
        tag = response.headers.get("ETag", "")
        validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        _replace(part, b"")  # before the record: bytes of another version must never be taken for this one's
        content = {"url": url, "validator": validator, "total": total}
        _replace(_record_of(part), json.dumps(content).encode())
    else:
        raise CorpusError(f"{url}: HTTP {response.status} {response.reason}; expected the file")
    progress(offset, total)
    with _open(part, "ab") as file:
        while chunk := response.read(CHUNK):
            _append(file, part, chunk)
            offset += len(chunk)
            progress(offset, total)
    if total is not None and offset != total:
        if offset > total:
            discard(part)
        raise _MayPass(f"the connection ended after {offset:,} of {total:,} bytes")


def _record_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _read_record(part: Path, url: str) -> dict[str, Any]:
    """What is known about the bytes in `part`; empty if they cannot be resumed."""
    try:
        record = json.loads(_record_of(part).read_bytes())
    except (OSError, ValueError):
        return {}
    same = isinstance(record, dict) and record.get("url") == url
    return record if same and (record.get("validator") or record.get("total")) else {}


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _open(path: Path, mode: Literal["ab", "wb"]) -> FileIO:
    try:
        return path.open(mode, buffering=0)  # or a full disk would show only as the file is closed
    except OSError as problem:
        raise _cannot_write(path, problem) from None


def _append(file: FileIO, path: Path, content: bytes) -> None:
    try:
        while content:
            content = content[file.write(content) :]
    except OSError as problem:
        raise _cannot_write(path, problem) from None


def _replace(path: Path, content: bytes) -> None:
    with _open(path, "wb") as file:
        _append(file, path, content)


def _cannot_write(path: Path, problem: OSError) -> CorpusError:
    return CorpusError(f"{path}: cannot write: {problem.strerror or problem}")
