"""Downloads one file by HTTP: resumed where it broke off, and tried again after failures that may pass.

What has arrived lies in `NAME.part`; `NAME.part.json` beside it records which version of the file that is, so bytes of
two versions are never joined.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any
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


def part_of(place: Path) -> Path:
    """Returns where the bytes of `place` lie until all are there."""
    return place.with_name(f"{place.name}.part")


def discard(part: Path) -> None:
    """Removes what has arrived, and what is known about it."""
    part.unlink(missing_ok=True)
    _record_of(part).unlink(missing_ok=True)


def download(url: str, part: Path, retries: int) -> None:
    """Downloads `url` to `part`, with a progress bar; goes on where an earlier call broke off.

    Args:
        url: of http or https.
        part: the file to write; complete when this returns.
        retries: attempts after one that failed. Every attempt that gets further than all before starts the count anew.

    Raises:
        CorpusError: if the file cannot be had, or cannot be written.
    """
    farthest, failures = _size(part), 0
    with tqdm(desc=part.stem, unit="B", unit_scale=True, unit_divisor=1024, leave=False, disable=None) as bar:
        while True:
            try:
                _attempt(url, part, bar)
                return
            except HTTPError as problem:
                problem.close()
                reason = f"HTTP {problem.code} {problem.reason}"
                if problem.code not in MAY_PASS:
                    raise CorpusError(f"{url}: {reason}") from None
            except (OSError, HTTPException) as problem:
                cause = problem.reason if isinstance(problem, URLError) else problem
                text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
                reason = " ".join(text.split())
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


def _attempt(url: str, part: Path, bar: tqdm[Any]) -> None:
    """Asks for what is missing; takes the whole file where the server sends that, since it has changed."""
    record = _read_record(part, url)
    offset = _size(part) if record else 0
    if offset and offset == record["total"]:
        return
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    if offset:
        headers |= {"Range": f"bytes={offset}-", "If-Range": record["validator"]}
    try:
        response = urlopen(Request(url, headers=headers), timeout=TIMEOUT)  # noqa: S310  # see `check_url`
    except HTTPError as problem:
        if problem.code == 416:  # there is no such range: the file is another one now
            discard(part)
        raise
    with response:
        if response.status == 206:
            total = record["total"]
            if response.headers.get("Content-Range", "") != f"bytes {offset}-{total - 1}/{total}":
                discard(part)
                raise HTTPException("the server sent a range that was not asked for, or of another file")
        else:
            length, tag = response.headers.get("Content-Length", ""), response.headers.get("ETag", "")
            offset, total = 0, int(length) if length.isdecimal() else None
            validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
            discard(part)  # before the record: bytes of another version must never be taken for this one's
            _append(_record_of(part), json.dumps({"url": url, "validator": validator, "total": total}).encode())
        bar.total = total
        bar.update(offset - bar.n)
        _append(part, b"")  # also an empty file is one
        while chunk := response.read(CHUNK):
            _append(part, chunk)
            bar.update(len(chunk))
    if total is not None and _size(part) != total:
        raise HTTPException(f"the connection ended after {_size(part):,} of {total:,} bytes")


def _record_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _read_record(part: Path, url: str) -> dict[str, Any]:
    """Returns what is known about the bytes in `part`; nothing if they cannot be resumed."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        record: dict[str, Any] = json.loads(_record_of(part).read_bytes())
        if record["url"] == url and record["validator"] and record["total"]:
            return record
    return {}


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _append(path: Path, content: bytes) -> None:
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError as problem:
        raise CorpusError(f"{path}: cannot write: {problem.strerror or problem}") from None
