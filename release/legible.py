"""What a file says: its text, and the strings in it as Python, JSON and TOML read them; what nobody can read.

A string counts alone and joined to its neighbours. Nothing is decoded, unpacked or run: what is encoded, compressed or
encrypted is found by `opaque_in`.
"""

import ast
import html
import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePath

_TAG = re.compile(r"<!\[CDATA\[|\]\]>|<[^>]*>")


def readings(path: str, content: bytes) -> Iterator[tuple[str, str]]:
    """Yield a file's text, and the strings in it, each with where it stands. Raises: UnicodeDecodeError for no text."""
    text = content.decode("utf-8-sig")
    yield text, ""
    strings = strings_in(PurePath(path).suffix, text)
    yield from ((separator.join(strings), "its strings") for separator in ("\n", ""))


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
    """The strings in a statement or an expression, bytes too, without those of statements inside."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Constant(value=str(value)):
                yield value
            case ast.Constant(value=bytes(value)):
                yield value.decode("latin-1")
            case ast.AST() if not isinstance(child, ast.stmt):
                yield from _constants_of(child)


# What nobody can read. The limits lie far from what our files hold: docs/explanation/decisions-release.md has figures.
RUN = 44  # characters without a space, of an alphabet that encodes: so many are judged, …
RUN_IS_EVEN = 0.030
"""… and look random if two of them are equal this rarely: in base 64 0.016, in our names and paths 0.040 and more."""
WINDOW = 128  # characters in a row, spaces and quotes left out, so that a text cut into lines or strings is judged, too
WINDOW_IS_EVEN = 0.0185  # in base 64 0.016, in base 85 0.012, in our code and prose 0.020 and more
HEXADECIMAL = 33  # digits without a space; 32 are the checksum that nbgrader gives each cell
INVISIBLE = 8  # characters of one string that have no picture: those of bytes in a string

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
_PHOTO = re.compile(r"data:image/png;base64,\s*iVBORw0KGgo[A-Za-z0-9+/=\s]*")
"""A PNG in an SVG, which is compared with the repository's besides; its first eight bytes are spelled so."""
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

    text = content.decode("utf-8-sig")
    text = _PHOTO.sub("", text) if path.endswith(".svg") else text
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
