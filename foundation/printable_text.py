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


def printable(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    r"""One line in which every unprintable character is escaped: `\x1b`, `\n`, `\u202e`.

    Args:
        text: any string, lone surrogates included.
        limit: the most characters of the line.

    Returns:
        One line that holds nothing but printable characters; made printable once more, it stays as it is.
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def clean(text: str, limit: int) -> str:
    """Text of several lines in which control, format, private and unassigned characters are U+FFFD.

    Newlines and tabs stay; a carriage return (of a progress bar) becomes a newline.

    Args:
        text: any string, lone surrogates included.
        limit: the most characters of it that are kept; a note at the end says that some were cut.
    """
    text = text[: 2 * (limit + 1)].replace("\r\n", "\n").replace("\r", "\n")  # of two characters at least one stays
    text = _SUSPECT.sub(_replace, text)
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT


def _replace(match: re.Match[str]) -> str:
    character = match.group()
    return "\ufffd" if unicodedata.category(character) in _UNSAFE else character
