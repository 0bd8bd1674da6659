"""Text from strangers, made safe to show: `printable` for a line of a message, `clean` for text that is kept.

Submitted names, arguments and output may hold escape sequences, line ends or right-to-left overrides, which could
repaint a terminal or disguise their surroundings.
"""

import re
import unicodedata

SHOWN_CHARACTERS = 200

_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SUSPECT = re.compile(r"[^\x20-\x7e\n\t]")
_CUT = " … [cut]"
_JOINERS = "\u200c\u200d"
_JOINER = re.compile(rf"(?<=[\u0600-\U0010ffff])[{_JOINERS}](?=[\u0600-\U0010ffff])")
"""Behind Hebrew come the scripts that join letters; names in Persian or Hindi are misspelled without joiners."""


def printable(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    r"""One line in which every unprintable character is escaped: `\x1b`, `\n`, `\u202e`.

    It holds nothing but printable characters, and joiners between letters that need them, at most `limit` in all; made
    printable once more, it stays as it is.
    """
    text = text[: limit + 1]
    kept = _joiners(text)
    shown = "".join(
        c if c.isprintable() or at in kept else c.encode("unicode_escape").decode("ascii") for at, c in enumerate(text)
    )
    return shown if len(shown) <= limit else shown[: limit - 3].rstrip(_JOINERS) + "..."


def clean(text: str, limit: int) -> str:
    """Text of several lines in which control, format, private and unassigned characters are U+FFFD.

    Newlines and tabs stay; a carriage return (of a progress bar) becomes a newline. Beyond the limit text is cut, with
    a note at the end that says so.
    """
    text = text[: 2 * (limit + 1)].replace("\r\n", "\n").replace("\r", "\n")  # of two characters at least one stays
    kept = _joiners(text)
    text = _SUSPECT.sub(lambda match: match.group() if match.start() in kept else _replace(match), text)
    return text if len(text) <= limit else text[: limit - len(_CUT)].rstrip(_JOINERS) + _CUT


def line_of(error: UnicodeDecodeError) -> int:
    """The line, from 1, in which decoding a whole file has failed."""
    return error.object.count(b"\n", 0, error.start) + 1


def _joiners(text: str) -> set[int]:
    """Where an invisible joiner stands between two letters of a script that has them."""
    found = (match.start() for match in _JOINER.finditer(text))
    return {at for at in found if _is_letter(text[at - 1]) and _is_letter(text[at + 1])}


def _is_letter(character: str) -> bool:
    """Whether it is a letter, or a sign on one."""
    return unicodedata.category(character)[0] in "LM"


def _replace(match: re.Match[str]) -> str:
    character = match.group()
    return "\ufffd" if unicodedata.category(character) in _UNSAFE else character
