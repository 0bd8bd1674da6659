"""Opens a file of any kind down to the texts in it: archives, notebooks, JSON strings, encoded blobs.

A file that cannot be opened is reported, never passed over.
"""

import base64
import binascii
import bz2
import contextlib
import gzip
import io
import json
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..archives.packing import ZIP_DAMAGE

MAX_DEPTH = 6
MAX_BYTES = 64 << 20

_BLOB = re.compile(r"(?:[A-Za-z0-9+/_-]{4}[\r\n]*){20,}(?:[A-Za-z0-9+/_-]{2,3}={0,2})?")
_ESCAPED = re.compile(r"""\\[nrt"'\\u]""")
_ESCAPES = {"n": "\n", "r": "\n", "t": "\t"}
_COMPRESSED = ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress), (b"\xfd7zXZ\x00", lzma.decompress))


@dataclass(frozen=True)
class Text:
    """A text found in a file; `where` names the file and, after `!`, the way inside it."""

    where: str
    text: str


class UnreadableError(Exception):
    """A file cannot be looked into; the text says which and why."""


def texts_in(where: str, content: bytes, depth: int = 0) -> Iterator[Text]:
    """All texts of a file.

    Raises:
        UnreadableError: where the content is of no known kind, nested too deeply or too large.
    """
    if depth > MAX_DEPTH or len(content) > MAX_BYTES:
        raise UnreadableError(f"{where} is nested too deeply or too large to be looked into")
    for magic, decompress in _COMPRESSED:
        if content.startswith(magic):
            yield from texts_in(where + "!", _opened(where, decompress, content), depth + 1)
            return
    if content.startswith(b"PK\x03\x04") or zipfile.is_zipfile(io.BytesIO(content)):
        yield from _zip_texts(where, content, depth)
    elif len(content) > 262 and content[257:262] == b"ustar":
        yield from _tar_texts(where, content, depth)
    else:
        yield from _plain_texts(where, _decode(where, content), depth)


def _zip_texts(where: str, content: bytes, depth: int) -> Iterator[Text]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield Text(where + "!comment", archive.comment.decode("utf-8", "replace"))
            for member in archive.infolist():
                inner = f"{where}!{member.filename}"
                if member.file_size > MAX_BYTES:
                    raise UnreadableError(f"{inner} is too large to be looked into")
                yield Text(inner, member.filename + "\n" + member.comment.decode("utf-8", "replace"))
                yield from texts_in(inner, archive.read(member), depth + 1)
    except ZIP_DAMAGE as error:
        raise UnreadableError(f"{where} cannot be opened as a zip archive ({error})") from None


def _tar_texts(where: str, content: bytes, depth: int) -> Iterator[Text]:
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                inner = f"{where}!{member.name}"
                if not member.isdir():
                    opened = archive.extractfile(member) if member.isfile() else None
                    if opened is None:
                        raise UnreadableError(f"{inner} is neither a file nor a folder")
                    yield from texts_in(inner, opened.read(MAX_BYTES + 1), depth + 1)
    except tarfile.TarError as error:
        raise UnreadableError(f"{where} cannot be opened as a tar archive ({error})") from None


def _plain_texts(where: str, text: str, depth: int) -> Iterator[Text]:
    yield Text(where, text)
    if text.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):  # it only began like JSON: read as text below
            yield from _json_texts(where, json.loads(text), depth)
    if _ESCAPED.search(text):
        yield Text(where + "!unescaped", _ESCAPED.sub(lambda match: _ESCAPES.get(match[0][1], match[0][1]), text))
    yield from _blob_texts(where, text, depth)


def _json_texts(where: str, value: object, depth: int) -> Iterator[Text]:
    """The strings of a JSON value; a list of strings is one text, as a notebook keeps the lines of a cell."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _json_texts(f"{where}!{key}", item, depth)
        yield Text(where, "\n".join(value))
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        yield from _json_texts(where, "".join(value), depth)
        yield Text(where, "\n".join(value))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _json_texts(f"{where}!{index}", item, depth)
    elif isinstance(value, str) and value.strip():
        if depth >= MAX_DEPTH:
            raise UnreadableError(f"{where} is nested too deeply to be looked into")
        yield from _plain_texts(where, value, depth + 1)


def _blob_texts(where: str, text: str, depth: int) -> Iterator[Text]:
    """Base64, as in attachments and data URLs. What does not decode to a text or an archive is ignored."""
    for match in _BLOB.finditer(text):
        packed = re.sub(r"[\r\n]", "", match[0]).rstrip("=").replace("-", "+").replace("_", "/")
        try:
            content = base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True)
            yield from list(texts_in(where + "!base64", content, depth + 1))
        except (binascii.Error, UnreadableError):
            continue


def _decode(where: str, content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        kind = "a compiled file" if where.endswith((".pyc", ".pyo", ".so")) else "neither text nor an archive"
        raise UnreadableError(f"{where} is {kind}, so its content cannot be checked")
    return text


def _opened(where: str, decompress: Callable[[bytes], bytes], content: bytes) -> bytes:
    try:
        return decompress(content)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise UnreadableError(f"{where} cannot be decompressed ({error})") from None
