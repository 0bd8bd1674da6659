"""Every reading of a file: its text, and what stands in it in another form, however often it was put into another.

A string counts as Python, JSON or TOML reads it, alone and joined to its neighbours. What is written in base 16, 32, 64
or 85 is decoded, what is compressed is opened, and each text is also read backwards and in rot13. Nothing is unpickled,
unmarshalled or run: of other bytes, the legible parts are read. What nobody can read is found by `opaque_in`.
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
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
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
_OPENERS: tuple[tuple[str, tuple[bytes, ...], Callable[[bytes], bytes]], ...] = (
    ("gzip", (b"\x1f\x8b",), lambda data: zlib.decompressobj(31).decompress(data, LARGEST)),
    ("zlib", (b"\x78",), lambda data: zlib.decompressobj().decompress(data, LARGEST)),
    ("bz2", (b"BZh",), lambda data: bz2.BZ2Decompressor().decompress(data, LARGEST)),
    ("lzma", (b"\xfd7zXZ", b"\x5d\0\0"), lambda data: lzma.LZMADecompressor().decompress(data, LARGEST)),
)


def readings(path: str, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield all texts in a text file, each with the forms around it, the outer one first: "" for the text as it is.

    The path's suffix decides how strings are written in it. Raises: UnicodeDecodeError where the file is not text.
    """
    text, pictures = take_pictures(content.decode("utf-8-sig"))
    yield from _read([text], "")
    yield from _read(strings_in(PurePath(path).suffix, text), "its strings")
    for picture in pictures:
        legible = b"\n".join(_LEGIBLE.findall(picture)).decode("ascii")
        yield from _read([legible, html.unescape(legible)], "a picture")


@lru_cache(maxsize=1000)
def strings_in(suffix: str, text: str) -> Sequence[str]:
    """Return the strings of a Python file, of JSON, TOML and notebooks, and the text of HTML and SVG."""
    if suffix == ".py":
        return list(_strings_of_python(text))
    if suffix in (".svg", ".html", ".xml"):
        return [html.unescape(text), html.unescape(_TAG.sub("", text))]
    if suffix not in (".json", ".ipynb", ".toml"):
        return []
    try:
        values = list(strings_of_data(tomllib.loads(text) if suffix == ".toml" else json.loads(text)))
    except ValueError:
        return []
    return values + [string for value in values for string in _strings_of_python(value)]


def strings_of_data(data: object) -> Iterator[str]:
    """The strings of JSON or TOML; a list of strings, such as the lines of a notebook's cell, is one."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, list) and data and all(isinstance(item, str) for item in data):
        yield "".join(data)
    elif isinstance(data, dict | list):
        for item in data.values() if isinstance(data, dict) else data:
            yield from strings_of_data(item)


def _strings_of_python(text: str) -> Iterator[str]:
    """The strings of each statement of code, and all of a statement joined; none of a text that is no code."""
    try:
        tree = ast.parse(text if '"' in text or "'" in text or "[" in text else "")
    except (SyntaxError, ValueError, RecursionError):
        return
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt):
            strings = list(_constants_of(statement))
            yield from [*strings, "".join(strings)] if len(strings) > 1 else strings


def _constants_of(node: ast.AST) -> Iterator[str]:
    """The strings in a statement or an expression, bytes and lists of bytes too, without those of statements inside."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Constant(value=str(value)):
                yield value
            case ast.Constant(value=bytes(value)):
                yield value.decode("latin-1")
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) if numbers := _bytes_of(items):
                yield numbers.decode("latin-1")
            case ast.AST() if not isinstance(child, ast.stmt):
                yield from _constants_of(child)


def _bytes_of(items: Sequence[ast.expr]) -> bytes:
    """The bytes that a list of numbers could be; none where it is too short, or has other items."""
    numbers = [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, int)]
    return bytes(numbers) if len(items) == len(numbers) >= LEAST and 0 <= min(numbers) <= max(numbers) < 256 else b""


def _read(pieces: Sequence[str], form: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The readings of some pieces: below each other, joined, backwards, in rot13, and all that is encoded in them."""
    for whole in dict.fromkeys(("\n".join(pieces), "".join(pieces))):
        yield whole, form
        yield whole[::-1], _joined(form, BACKWARDS)
        yield codecs.encode(whole, "rot13"), _joined(form, ROT13)
    inside: dict[str, list[str]] = {}
    for piece in pieces if depth < DEEPEST else ():
        runs = {match[0].strip("`") for pattern in _RUNS for match in pattern.finditer(piece)}
        for run in [*sorted(runs), "".join(piece.split())]:
            for inner_form, text in _decoded(run):
                inside.setdefault(_joined(form, inner_form), []).append(text)
    for forms, texts in inside.items():
        yield from _read(texts, forms, depth + 1)


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
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                inside = [archive.open(name).read(LARGEST) for name in archive.namelist()]
        except ZIP_DAMAGE:
            inside = []
        yield from (("zip", text) for content in inside for _, text in _opened(content))
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


def _joined(*forms: str) -> str:
    return ", ".join(filter(None, forms))


def _padded(run: str, size: int) -> str:
    run = run.rstrip("=")
    return run + "=" * (-len(run) % size)


# What nobody can read. The limits lie far from what our files hold: docs/explanation/decisions-release.md has figures.
RUN = 44
"""Characters without a space, of an alphabet that encodes: so many are judged, …"""
RUN_IS_EVEN = 0.030
"""… and look random if two of them are equal this rarely: in base 64 0.016, in our names and paths 0.040 and more."""
WINDOW = 128
"""Characters in a row, spaces and quotes left out, so that a text cut into lines or strings is judged, too."""
WINDOW_IS_EVEN = 0.0185
"""In base 64 0.016, in base 85 0.012, in our code and prose 0.020 and more."""
HEXADECIMAL = 33
"""Digits without a space; 32 are the checksum that nbgrader gives each cell."""
INVISIBLE = 8
"""Characters of one string that have no picture: those of bytes in a string."""

_RANDOM = re.compile(rf"[\w+/=-]{{{RUN},}}|[^\s\"',.:/\[\]\\]{{{RUN},}}", re.ASCII)
_DIGITS = re.compile(
    rf"(?<![\w-])(?:[0-9a-fA-F]{{{HEXADECIMAL},}}|[A-Z2-7]{{{RUN},}}|[a-z2-7]{{{RUN},}})=*(?![\w-])"
    rf"|(?:\b(?:0x)?[0-9a-fA-F]{{1,32}}\b[\s\"',]+){{{WINDOW // 2},}}"
)
_PATTERN = re.compile(r"[0-9a-f]{6}(?: [0-9a-f]{6})+")
_WORDS = re.compile(r"[\w-]{40,}", re.ASCII)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U0010ffff]"
)
_BETWEEN = re.compile(r"[\s\"',]+|\\n")


def opaque_in(path: str, content: bytes, checksums: Collection[str] = ()) -> set[str]:
    """Return a description of each piece of a text file that is packed, encrypted, compiled or encoded.

    Checksums pass where each is one of these; the hashes of a hint's pattern where they are sorted, so that their order
    carries nothing. Raises: UnicodeDecodeError where the file is not text.
    """

    def without_checksum(match: re.Match[str]) -> str:
        return "" if match[0] in checksums else match[0]

    def without_pattern(match: re.Match[str]) -> str:
        hashes = match[0].split()
        return "" if hashes == sorted(set(hashes)) else match[0]

    text, _ = take_pictures(content.decode("utf-8-sig"))
    pieces = (_WORDS.sub(without_checksum, piece) for piece in [text, *strings_in(PurePath(path).suffix, text)])
    return {part for piece in pieces for part in _opaque_parts(_PATTERN.sub(without_pattern, piece))}


def _opaque_parts(text: str) -> Iterator[str]:
    """Yield a description of each opaque part of a text."""
    for match in _RANDOM.finditer(text):
        if _evenness(match[0]) < RUN_IS_EVEN:
            yield f"{len(match[0])} characters that look random ({match[0][:12]}…)"
    for match in _DIGITS.finditer(text):
        if 12 * sum(map(str.isdigit, match[0])) > len(match[0]):  # else words
            yield f"{len(match[0])} digits of an encoding ({match[0][:12]}…)"
    if (hidden := len(_HIDDEN.findall(text))) >= INVISIBLE:
        yield f"{hidden} characters that cannot be seen"
    dense = _BETWEEN.sub("", text)
    windows = (dense[start : start + WINDOW] for start in range(0, len(dense) - WINDOW + 1, WINDOW // 2))
    if random := next((part for part in windows if _evenness(part) < WINDOW_IS_EVEN), ""):
        yield f"text that looks random ({random[:12]}…)"


def _evenness(text: str) -> float:
    """How often two of its characters are equal: 1 / n where n characters are equally frequent."""
    return sum(n * (n - 1) for n in Counter(text).values()) / (len(text) * (len(text) - 1))
