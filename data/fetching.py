"""Public corpora from their own sites: the command `fetch`; `corpora.toml` is the table of those that it knows.

A download is resumed where it broke off. What has arrived lies in `NAME.part`. Its time of change is set to the
server's `Last-Modified`, and the rest is asked for under that condition, so bytes of two versions are never joined.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import os
import re
import shlex
import shutil
import sys
import tarfile
import time
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate, parsedate_to_datetime
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tqdm import tqdm

from foundation.command_line import at_least

from .files import Commands, CorpusError, output_folder

TABLE = Path(__file__).with_name("corpora.toml")
DOWNLOADS = Path("downloads")
RETRIES = 5
TIMEOUT = 30  # seconds without a byte
LONGEST_PAUSE = 60  # seconds
CHUNK = 1 << 16
MAY_PASS = {408, 416, 425, 429, 500, 502, 503, 504}
AGENT = "Mozilla/5.0 (compatible; transformer-assignment; python -m data fetch)"  # some sites refuse Python's own name
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, UnicodeDecodeError, NotImplementedError)
ADDRESS = re.compile(r"https?://[\w.-]+(:\d+)?/[!-~]*", re.ASCII)
SEGMENT = re.compile(rb"<seg[^>]*>(.*?)</seg>")
EXAMPLES = """examples:
  python -m data fetch                                         list the corpora
  python -m data fetch multi30k-de-en                          into downloads/multi30k-de-en
  python -m data fetch multi30k-de-en --url https://mirror.example/multi30k/     all files from a mirror's folder
  python -m data fetch multi30k-de-en --url val.de.gz=https://mirror.example/v1  one file from elsewhere
A download that broke off is resumed by the same command. Then prepare the corpus: the last line says how.
"""

Corpus = dict[str, Any]
"""An entry of the table; `corpora.toml` says what each field means."""

pause = time.sleep


def read_table() -> dict[str, Corpus]:
    """Returns the corpora by name."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def add_fetch_command(commands: Commands) -> None:
    """Adds it."""
    parser = commands.add_parser(
        "fetch",
        help="download a public corpus",
        description="Downloads a public corpus from its own site, checks it, and unpacks its plain text.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run_fetch)
    parser.add_argument("name", nargs="?", choices=tuple(read_table()), metavar="NAME", help="none: list the corpora")
    output_help = f"folder for the files (default: {DOWNLOADS}/NAME)"
    parser.add_argument("--output", type=output_folder, metavar="DIR", help=output_help)
    url_help = "a folder that has the files (ends in /), FILE=URL, or the URL of a corpus' only file; may be repeated"
    parser.add_argument("--url", action="append", default=[], metavar="URL", help=url_help)
    retries_help = f"further attempts after one that brought nothing new (default: {RETRIES})"
    parser.add_argument("--retries", type=at_least(0, 100), default=RETRIES, metavar="N", help=retries_help)


def run_fetch(options: argparse.Namespace) -> int:
    """Downloads what is missing and prints what to do next."""
    name = options.name
    if name is None:
        list_corpora()
        return 0
    corpus = read_table()[name]
    urls = choose_urls(name, corpus, options.url)
    folder = options.output or DOWNLOADS / name
    missing = [file for file in corpus["files"] if not _is_there(folder / file["name"], file["checksum"])]
    about = [f"{name}: {corpus['title']}", *(f"{field}: {corpus[field]}" for field in ("licence", "citation", "home"))]
    print("\n".join(about), flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    for file in missing:
        download(urls[file["name"]], folder / file["name"], file["checksum"], options.retries)
    texts = [text for text in corpus["texts"] if not (folder / text).exists()]
    for text in texts:
        write_text(folder, corpus["texts"][text], folder / text)
    print(f"{folder}: {len(missing) + len(texts)} of {len(urls) + len(corpus['texts'])} files are new")
    print("next:", corpus["prepare"].replace("{folder}", shlex.quote(str(folder))))
    return 0


def list_corpora() -> None:
    """Prints what there is."""
    for name, corpus in read_table().items():
        print(f"{name}\n  {corpus['title']}\n  licence: {corpus['licence']}\n  format: {corpus['format']}")
        if corpus["dataset"]:
            print(f"  or: python -m data prepare {corpus['dataset']}")


def _is_there(path: Path, checksum: str) -> bool:
    """Whether a file was fetched already. Raises: CorpusError if another one is in its place."""
    if path.exists() and checksum and digest(path, checksum) != checksum:
        raise CorpusError(f"{path}: not as in the table of corpora; move it away, or choose another --output")
    return path.exists()


def choose_urls(name: str, corpus: Corpus, given: list[str]) -> dict[str, str]:
    """The address of each file: the table's, unless `--url` names another. Raises: CorpusError."""
    urls = {file["name"]: file["url"] for file in corpus["files"]}
    single: dict[str, str] = {}
    for text in given:
        file, equals, url = text.partition("=")
        if equals and file in urls:
            single[file] = url
        elif text.endswith("/"):
            url = text
            urls = {file: text + file for file in urls}
        elif len(urls) == 1:
            url = single[next(iter(urls))] = text
        else:
            raise CorpusError(f"--url {text!r}: {name} has {len(urls)} files; write FILE=URL, or a folder's URL/")
        if not ADDRESS.fullmatch(url):
            raise CorpusError(f"--url {url!r}: not an address that begins with http:// or https://")
    return urls | single


def download(url: str, place: Path, checksum: str, retries: int) -> None:
    """Downloads `url` to `place`, with a progress bar; goes on where an earlier call broke off.

    Args:
        url: of http or https.
        place: the file to write, in a folder that exists.
        checksum: `sha256:…` or `md5:…`; empty if none is known.
        retries: attempts after one that failed. Every attempt that gets further than all before starts the count anew.

    Raises:
        CorpusError: if the file cannot be had, or is not the expected one.
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
                raise CorpusError(f"{url}: {reason}; gave up{resume}")
            seconds = min(LONGEST_PAUSE, 2 ** (failures - 1))
            bar.write(f"{url}: {reason}; next attempt in {seconds} s", file=sys.stderr)
            pause(seconds)
    if checksum and (found := digest(part, checksum)) != checksum:
        part.unlink()
        raise CorpusError(f"{url}: its checksum is {found}, not {checksum} as in the table of corpora")
    if place.suffix == ".zip" and not zipfile.is_zipfile(part):  # some servers send a web page in its place
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
        if getattr(problem, "filename", None):
            raise  # the disk, not the network
        return str(getattr(problem, "reason", problem)) or type(problem).__name__
    return ""


def _take(url: str, part: Path, bar: tqdm[Any]) -> None:
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    offset = _size(part)
    if offset and (changed := part.stat().st_mtime):
        headers |= {"Range": f"bytes={offset}-", "If-Range": formatdate(changed, usegmt=True)}
    with urlopen(Request(url, headers=headers), timeout=TIMEOUT) as response:  # noqa: S310  # see ADDRESS
        offset = offset if response.status == 206 else 0
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
    """Returns the checksum of a file, `sha256:…` or `md5:…` as `like` is."""
    kind = like.partition(":")[0]
    with path.open("rb") as file:
        return f"{kind}:{hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()}"


def write_text(folder: Path, members: list[str], place: Path) -> None:
    """Writes the members of archives in `folder`, one after the other, to `place`, whole or not at all.

    Args:
        folder: where the archives lie.
        members: `archive:member`; of an `.sgm` member, the segments, one a line.
        place: the file to write.

    Raises:
        CorpusError: if an archive is damaged or lacks the member.
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
        raise CorpusError(f"{archive}: damaged ({problem}); remove it and fetch it again") from None
