"""Downloads one file by HTTP: resumed where it broke off, and tried again after failures that may pass.

What has arrived lies in `NAME.part`; `NAME.part.json` beside it records which file of the server that is, so bytes of
two versions are never joined. A server's answer to a range is trusted only if it names the range that was asked for
(RFC 9110, section 14).
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from ..files import CorpusError

TIMEOUT = 30  # seconds without a byte
LONGEST_PAUSE = 60  # seconds, also if the server asks for more
CHUNK = 1 << 16
MAY_PASS = {408, 416, 425, 429, 500, 502, 503, 504}
AGENT = "Mozilla/5.0 (compatible; transformer-assignment; python -m data fetch)"  # some sites refuse Python's own name

pause = time.sleep

Progress = Callable[[int, int | None], object]
"""Called with the bytes that are there and the bytes of the whole file (None if the server does not say)."""


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
        except (OSError, HTTPException) as problem:
            reason, wait = _explain(problem, url)
        if _size(part) > farthest:
            farthest, failures = _size(part), 0
        failures += 1
        if failures > retries:
            resume = "; the same command resumes" if _size(part) else ""
            attempts = "1 attempt" if failures == 1 else f"{failures} attempts"
            raise CorpusError(f"{url}: {reason}; gave up after {attempts}{resume}")
        seconds = min(LONGEST_PAUSE, max(wait, 2 ** (failures - 1)))
        tell(f"{url}: {reason}; next attempt in {seconds} s")
        pause(seconds)


def _explain(problem: Exception, url: str) -> tuple[str, int]:
    """Why an attempt failed, and the seconds that the server asks for; raises CorpusError if another is no use."""
    if isinstance(problem, HTTPError):
        with problem:
            reason, asked = f"HTTP {problem.code} {problem.reason}", problem.headers.get("Retry-After", "")
        if problem.code not in MAY_PASS:
            raise CorpusError(f"{url}: {reason}")
        return reason, int(asked) if asked.isdecimal() else 0
    cause = problem.reason if isinstance(problem, URLError) else problem
    if isinstance(cause, ssl.SSLCertVerificationError):
        raise CorpusError(f"{url}: {cause.verify_message}")
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return " ".join(text.split()), 0


def _attempt(url: str, part: Path, progress: Progress) -> None:
    record = _read_record(part, url)
    offset = _size(part) if record else 0
    if offset and offset == record["total"]:
        return
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    if offset:
        headers |= {"Range": f"bytes={offset}-", "If-Range": record["validator"]}
    try:
        request = Request(url, headers=headers)  # noqa: S310  # `check_url` lets only http and https through
        with urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
            _store(response, url, part, offset, record, progress)
    except HTTPError as problem:
        if problem.code == 416:  # there is no such range: the file is another one now
            discard(part)
        raise


def _store(
    response: HTTPResponse, url: str, part: Path, offset: int, record: dict[str, Any], progress: Progress
) -> None:
    """Appends the answer to a range, or begins again if the server sends the whole file."""
    if response.status == 206:
        total = record["total"]
        if response.headers.get("Content-Range", "") != f"bytes {offset}-{total - 1}/{total}":
            discard(part)
            raise HTTPException("the server sent a range that was not asked for, or of another file")
    elif response.status == 200:
        length, tag = response.headers.get("Content-Length", ""), response.headers.get("ETag", "")
        offset, total = 0, int(length) if length.isdecimal() else None
        validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        discard(part)  # before the record: bytes of another version must never be taken for this one's
        _append(_record_of(part), json.dumps({"url": url, "validator": validator, "total": total}).encode())
    else:
        raise CorpusError(f"{url}: HTTP {response.status} {response.reason}; expected the file")
    progress(offset, total)
    _append(part, b"")  # also an empty file is one
    while chunk := response.read(CHUNK):
        _append(part, chunk)
        offset += len(chunk)
        progress(offset, total)
    if total is not None and offset != total:
        if offset > total:
            discard(part)
        raise HTTPException(f"the connection ended after {offset:,} of {total:,} bytes")


def _record_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _read_record(part: Path, url: str) -> dict[str, Any]:
    """What is known about the bytes in `part`; empty if they cannot be resumed."""
    try:
        record = json.loads(_record_of(part).read_bytes())
        is_same = record["url"] == url and record["validator"] and record["total"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return dict(record) if is_same else {}


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _append(path: Path, content: bytes) -> None:
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError as problem:
        raise CorpusError(f"{path}: cannot write: {problem.strerror or problem}") from None
