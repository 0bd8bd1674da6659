"""Every reading of a file: its text, and what stands in it in another form, however often it was put into another.

    for reading in readings("notes.toml", content):
        reading.text, reading.form, reading.line_at(offset)

A string counts as Python, JSON or TOML reads it, alone and joined to its neighbours. What is written in base 16, 32, 64
or 85 is decoded, what is compressed is opened, and each text is also read backwards and in rot13. Nothing is unpickled,
unmarshalled or run: of other bytes, the legible parts are read.
"""

import ast
import base64
import binascii
import bz2
import codecs
import html
import io
import json
import lzma
import re
import tomllib
import zipfile
import zlib
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import PurePath

from .packing import ZIP_DAMAGE
from .pictures import take_pictures

DEEPEST = 5
"""Forms within forms that are followed."""
LARGEST = 4_000_000
"""Bytes that are opened of one compressed piece."""
LEAST = 20
"""Characters of a run that may be encoded: a shorter one has no room for a statement."""

BACKWARDS, ROT13 = "backwards", "rot13"

Piece = tuple[int, str]
"""A text, and the line of the file that it stands in."""

_RUNS = re.compile(rf"[^\s\"',]{{{LEAST},}}"), re.compile(rf"\S{{{LEAST},}}")
_LEGIBLE = re.compile(rb"[\t\n\r -~]{8,}")
_TAG = re.compile(r"<!\[CDATA\[|\]\]>|<[^>]*>")
_BASES: tuple[tuple[str, re.Pattern[str], Callable[[str], bytes]], ...] = (
    ("base16", re.compile(r"(?:[0-9a-fA-F]{2})+"), bytes.fromhex),
    ("base32", re.compile(r"[A-Z2-7]+=*|[a-z2-7]+=*"), lambda run: base64.b32decode(_padded(run, 8), casefold=True)),
    ("base64", re.compile(r"(?=.*[-_])[\w-]+=*", re.ASCII), lambda run: base64.b64decode(_padded(run, 4), b"-_")),
    ("base64", re.compile(r"[A-Za-z0-9+/]+=*"), lambda run: base64.b64decode(_padded(run, 4))),
    ("base85", re.compile(r"[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]+"), base64.b85decode),
    ("ascii85", re.compile(r"[!-uz]+"), base64.a85decode),
)
_OPENERS: tuple[tuple[str, bytes, Callable[[bytes], bytes]], ...] = (
    ("gzip", b"\x1f\x8b", lambda data: zlib.decompressobj(31).decompress(data, LARGEST)),
    ("zlib", b"\x78", lambda data: zlib.decompressobj().decompress(data, LARGEST)),
    ("bz2", b"BZh", lambda data: bz2.BZ2Decompressor().decompress(data, LARGEST)),
    ("lzma", b"\xfd7zXZ", lambda data: lzma.LZMADecompressor().decompress(data, LARGEST)),
    ("lzma", b"\x5d\x00\x00", lambda data: lzma.LZMADecompressor().decompress(data, LARGEST)),
)


@dataclass(frozen=True)
class Reading:
    """One text that a file holds.

    Args:
        text: what is read.
        form: the forms that it stood in, the outer one first; "" for the text as it is.
        starts: the offsets at which its pieces begin.
        lines: the line of the file that each piece begins in.
        is_plain: whether a line of the text is a line of the file.
    """

    text: str
    form: str
    starts: Sequence[int]
    lines: Sequence[int]
    is_plain: bool

    @property
    def is_turned(self) -> bool:
        """True if this is another text, read in another way."""
        return self.form.endswith((BACKWARDS, ROT13))

    def line_at(self, offset: int) -> int:
        """The line of the file that a place of the text comes from."""
        offset = len(self.text) - 1 - offset if self.form.endswith(BACKWARDS) else offset
        piece = bisect(self.starts, offset) - 1
        return self.lines[piece] + self.is_plain * self.text.count("\n", self.starts[piece], offset)


def readings(path: str, content: bytes) -> Iterator[Reading]:
    """All readings of a file that is text; its suffix decides how strings are written in it."""
    text, pictures = take_pictures(content.decode("utf-8-sig"))
    yield from _read([(1, text)], "")
    yield from _read(strings_in(PurePath(path).suffix, text), "its strings")
    for line, picture in pictures:
        legible = b"\n".join(_LEGIBLE.findall(picture)).decode("ascii")
        yield from _read([(line, legible), (line, html.unescape(legible))], "a picture")


@lru_cache(maxsize=1000)
def strings_in(suffix: str, text: str) -> Sequence[Piece]:
    """The strings of a Python file, of JSON, TOML and notebooks, and the text of HTML and SVG, in their order."""
    return tuple(_strings_in(suffix, text))


def _strings_in(suffix: str, text: str) -> Iterator[Piece]:
    if suffix == ".py":
        yield from _strings_of_python(text, 1)
    elif suffix in (".json", ".ipynb", ".toml"):
        try:
            values = list(strings_of_data(tomllib.loads(text) if suffix == ".toml" else json.loads(text)))
        except ValueError:
            return
        position = 0  # values come in the order of the file, but for tables that a TOML file mixes
        for value in values:
            beginning = value[:30].partition("\n")[0]
            place = max(text.find(beginning, position), text.find(json.dumps(beginning)[1:-1], position))
            position = max(place, position)
            line = text.count("\n", 0, position) + 1
            yield line, value
            yield from _strings_of_python(value, line)
    elif suffix in (".svg", ".html", ".xml"):
        yield 1, html.unescape(text)
        yield 1, html.unescape(_TAG.sub("", text))


def _strings_of_python(text: str, first: int) -> Iterator[Piece]:
    """The strings of each statement of code, and all of a statement joined; none of a text that is no code.

    Bytes and lists of bytes are strings, too. `first` is the line of the file in which the code begins.
    """
    if not any(mark in text for mark in "\"'["):
        return
    try:
        statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    except (SyntaxError, ValueError, RecursionError):
        return
    for statement in sorted(statements, key=lambda node: node.lineno):
        strings = list(_constants_of(statement))
        yield from ((first + line - 1, value) for line, value in strings)
        if len(strings) > 1:
            yield first + statement.lineno - 1, "".join(value for _, value in strings)


def _constants_of(node: ast.AST) -> Iterator[Piece]:
    """The strings in a statement or an expression, without those of statements inside."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Constant(value=str(value)):
                yield child.lineno, value
            case ast.Constant(value=bytes(value)):
                yield child.lineno, value.decode("latin-1")
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) if numbers := _bytes_of(items):
                yield child.lineno, numbers.decode("latin-1")
            case ast.AST() if not isinstance(child, ast.stmt):
                yield from _constants_of(child)


def _bytes_of(items: Sequence[ast.expr]) -> bytes:
    """The bytes that a list of numbers could be; none where it is too short, or has other items."""
    numbers = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, int)]
    return bytes(numbers) if len(items) == len(numbers) >= LEAST and 0 <= min(numbers) <= max(numbers) < 256 else b""


def strings_of_data(data: object) -> Iterator[str]:
    """The strings of JSON or TOML; a list of strings, such as the lines of a notebook's cell, is one."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, list) and data and all(isinstance(item, str) for item in data):
        yield "".join(data)
    elif isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from strings_of_data(item)


def _read(pieces: Sequence[Piece], form: str, depth: int = 0) -> Iterator[Reading]:
    """The readings of some pieces: below each other, joined, backwards, in rot13, and all that is encoded in them."""
    if not pieces:
        return
    lines = [line for line, _ in pieces]
    for joint in ("\n", "")[: 1 + (len(pieces) > 1)]:
        ends = accumulate(len(text) + len(joint) for _, text in pieces)
        starts = [0, *ends][:-1]
        whole = joint.join(text for _, text in pieces)
        for turned, text in (("", whole), (BACKWARDS, whole[::-1]), (ROT13, codecs.encode(whole, "rot13"))):
            yield Reading(text, _joined(form, turned), starts, lines, not depth)
    if depth == DEEPEST:
        return
    inside: dict[str, list[Piece]] = {}
    for line, text in pieces:
        for offset, run in _runs_in(text):
            for inner_form, inner in _decoded(run):
                at = line + text.count("\n", 0, offset) * (not depth)
                inside.setdefault(_joined(form, inner_form), []).append((at, inner))
    for forms, pieces_inside in inside.items():
        yield from _read(pieces_inside, forms, depth + 1)


def _runs_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield what may be encoded, with its offset: runs without spaces or quotes, and the whole without its spaces."""
    runs = {(match.start(), match[0].strip("`")) for form in _RUNS for match in form.finditer(text)}
    yield from sorted(runs | {(0, "".join(text.split()))})


def _decoded(run: str) -> Iterator[tuple[str, str]]:
    """The texts that a run may stand for, each with its form."""
    for name, alphabet, decode in _BASES:
        if alphabet.fullmatch(run):
            try:
                data = decode(run)
            except (ValueError, binascii.Error):
                continue
            for form, text in _opened(data):
                yield _joined(name, form), text


def _opened(data: bytes) -> Iterator[tuple[str, str]]:
    """The texts in some bytes, with what they are packed in: a compressed text, an archive's members, legible parts."""
    if data.startswith(b"PK"):
        yield from (("zip", text) for text in _members_of(data))
    for name, magic, decompress in _OPENERS:
        if data.startswith(magic):
            try:
                data = decompress(data)
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
                continue
            yield from ((_joined(name, form), text) for form, text in _opened(data))
            return
    if legible := _LEGIBLE.findall(data):
        yield "", b"\n".join(legible).decode("ascii")


def _members_of(data: bytes) -> Iterable[str]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            inside = [archive.open(name).read(LARGEST) for name in archive.namelist()]
    except ZIP_DAMAGE:
        return []
    return [text for content in inside for _, text in _opened(content)]


def _joined(*forms: str) -> str:
    return ", ".join(filter(None, forms))


def _padded(run: str, size: int) -> str:
    run = run.rstrip("=")
    return run + "=" * (-len(run) % size)
