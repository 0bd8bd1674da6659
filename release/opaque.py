"""The search for text that nobody can read: packed, encrypted, compiled or encoded, wherever in a file it stands.

The limits lie far from what our files hold; `docs/explanation/decisions-release.md` has the figures. Checksums pass
where each is that of something that is handed out; the hashes of a hint's pattern pass where they are sorted, so that
their order carries nothing.
"""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import PurePath

from .layers import strings_in
from .pictures import take_pictures

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

_RUNS = re.compile(rf"[\w+/=-]{{{RUN},}}|[^\s\"',.:/\[\]\\]{{{RUN},}}", re.ASCII)
_DIGITS = re.compile(rf"(?<![\w-])(?:[0-9a-fA-F]{{{HEXADECIMAL},}}|[A-Z2-7]{{{RUN},}}|[a-z2-7]{{{RUN},}})=*(?![\w-])")
_SPACED_DIGITS = re.compile(rf"(?:\b(?:0x)?[0-9a-fA-F]{{1,32}}\b[\s\"',]+){{{WINDOW // 2},}}")
_PATTERN = re.compile(r"[0-9a-f]{6}(?: [0-9a-f]{6})+")
_WORDS = re.compile(r"[\w-]{40,}", re.ASCII)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U0010ffff]"
)
_BETWEEN = re.compile(r"[\s\"',]+|\\n")


def opaque_in(path: str, content: bytes, checksums: Collection[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield the line of each opaque piece of a text file, and a description of it.

    Raises: UnicodeDecodeError where the file is not text.
    """
    text, _ = take_pictures(content.decode("utf-8-sig"))
    lines: dict[str, int] = {}
    for line, piece in [(1, text), *strings_in(PurePath(path).suffix, text)]:
        piece = _WORDS.sub(lambda match: "" if match[0] in checksums else match[0], piece)
        piece = _PATTERN.sub(lambda match: "" if _is_sorted(match[0].split()) else match[0], piece)
        for part, offset in _opaque_parts(piece):
            lines.setdefault(part, line + piece.count("\n", 0, offset))
    yield from ((line, part) for part, line in lines.items())


def _is_sorted(hashes: list[str]) -> bool:
    return hashes == sorted(set(hashes))


def _opaque_parts(text: str) -> Iterator[tuple[str, int]]:
    """Yield a description of each opaque part of a text, with its offset."""
    for match in _RUNS.finditer(text):
        if _evenness(match[0]) < RUN_IS_EVEN:
            yield f"{len(match[0])} characters that look random ({match[0][:12]}…)", match.start()
    for match in (*_DIGITS.finditer(text), *_SPACED_DIGITS.finditer(text)):
        if 12 * sum(map(str.isdigit, match[0])) > len(match[0]):  # else words
            yield f"{len(match[0])} digits of an encoding ({match[0][:12]}…)", match.start()
    if len(hidden := [match.start() for match in _HIDDEN.finditer(text)]) >= INVISIBLE:
        yield f"{len(hidden)} characters that cannot be seen", hidden[0]
    dense = _BETWEEN.sub("", text)
    for start in range(0, len(dense) - WINDOW + 1, WINDOW // 2):
        if _evenness(dense[start : start + WINDOW]) < WINDOW_IS_EVEN:
            middle = start + WINDOW // 2
            place = bisect(range(len(text)), middle, key=lambda end: len(_BETWEEN.sub("", text[:end])))
            yield "text that looks random", place
            return


def _evenness(text: str) -> float:
    """How often two of its characters are equal: 1 / n where n characters are equally frequent."""
    return sum(n * (n - 1) for n in Counter(text).values()) / (len(text) * (len(text) - 1))
