"""Text from a submission, made harmless for terminals and records."""

from __future__ import annotations

import re
import unicodedata

_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SUSPECT = re.compile(r"[^\x20-\x7e\n\t]")


def clean(text: str, limit: int) -> str:
    """Replace control, format, private and unassigned characters by U+FFFD and cut to `limit` characters.

    Newlines and tabs stay, a carriage return (of a progress bar) becomes a newline. What is cut is said.
    """
    text = _SUSPECT.sub(_replace, text[: limit + 1].replace("\r\n", "\n").replace("\r", "\n"))
    if len(text) > limit:
        note = " … [cut]"
        text = text[: limit - len(note)] + note
    return text


def _replace(match: re.Match) -> str:
    character = match.group()
    return "\ufffd" if unicodedata.category(character) in _UNSAFE else character
