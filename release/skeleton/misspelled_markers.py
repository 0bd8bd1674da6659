"""Recognises comments that were meant as solution markers but are misspelled.

A misspelled marker would leave the solution in the students' copy, so it has to be found even where BEGIN
and END are both wrong. This module only says whether a comment or a line of a string resembles a marker;
what counts as a marker is decided in `markers.py`.
"""

import re
import unicodedata

from rapidfuzz.distance import OSA

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"

_WORD = re.compile(r"[^\W_]+")
_MENTION = re.compile(r"(?<!#)### (?:BEGIN|END) SOLUTION(?!\w)")
_EDGE_WORDS = {"begin": BEGIN, "start": BEGIN, "end": END}  # found by edit distance, in which a swap is one edit
_SYNONYMS = {"open": BEGIN, "stop": END, "finish": END, "close": END}  # found as they are
_MEANT_WORDS = ("solution", "answer")
_OTHER_WORDS = {"resolution", "evolution", "absolution", "dissolution", "revolution", "pollution", "dilution"}
_ENGLISH_NEIGHBOURS = {"and", "an", "en", "send", "bend", "tend", "lend", "being", "star", "smart"}


def meant_in_comment(comment: str) -> str | None:
    """Names the marker that a comment resembles.

    Args:
        comment: one comment with its `#`, without indentation.

    Returns:
        The marker's right spelling; None where the comment is exactly a marker or plainly something else.
    """
    if comment in (BEGIN, END):
        return None
    hashes = re.match(r"[#\s]*", comment)
    n_hashes = hashes.group().count("#") if hashes else 0
    words = _words(comment)
    at_start = _edge(words[:3], strict=n_hashes < 2)
    if at_start:
        return at_start
    for first in range(1, len(words) - 1):
        shouted = _edge(words[first : first + 2], strict=False)
        if shouted and all(word.isupper() for word in words[first : first + 2]):
            return shouted
    for word in words:
        if _is_like_solution(word) and (n_hashes >= 2 or word.isupper()):
            return f"{BEGIN}` or `{END}"
    if n_hashes >= 2 and len(words) == 1:
        return _like_edge(words[0], strict=False)
    return None


def meant_in_string(line: str) -> str | None:
    """Names the marker that a line of a string resembles; the exact spelling is a mention, not a fault."""
    line = _MENTION.sub("", line)
    if line.lstrip().startswith("#"):
        return meant_in_comment(line.strip())
    words = _words(line)
    for first in range(len(words) - 1):
        pair = words[first : first + 2]
        if all(word.isupper() for word in pair) and (meant := _edge(pair, strict=False)):
            return meant
    return None


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def _edge(words: list[str], strict: bool) -> str | None:
    """The marker that the first words spell, such as `Soluton_begin`, `ENDSOLUTION` or `E ND SOLUTION`."""
    for pair in (words[:2], words[:2][::-1]):
        if len(pair) == 2 and _is_like_solution(pair[1]) and (meant := _like_edge(pair[0], strict)):
            return meant
    if strict and words and words[0].casefold() in _ENGLISH_NEIGHBOURS:
        return None
    joined = "".join(words).casefold()  # finds words that are run together or torn apart
    for edge in ("begin", "end"):
        target = edge + "solution"
        for length in range(len(target) - 2, len(target) + 3):
            if len(joined) >= length and OSA.distance(joined[:length], target) <= (1 if strict else 2):
                return _EDGE_WORDS[edge]
    return None


def _like_edge(word: str, strict: bool) -> str | None:
    """The marker whose BEGIN or END is meant. Strict: an ordinary English word is not a misspelling."""
    folded = word.casefold()
    if strict and not word.isupper() and folded in _ENGLISH_NEIGHBOURS:
        return None
    if folded in _SYNONYMS:
        return _SYNONYMS[folded]
    for edge, meant in _EDGE_WORDS.items():
        if OSA.distance(folded, edge) <= (2 if edge == "begin" and not strict else 1):
            return meant
    return None


def _is_like_solution(word: str) -> bool:
    folded = word.casefold()
    if folded in _OTHER_WORDS:
        return False
    return any(OSA.distance(folded, meant) <= 2 for meant in _MEANT_WORDS)
