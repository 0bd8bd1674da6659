"""Texts that people read: those of strangers, made safe to show; numbers; and the wording of a TODO.

Submitted names, arguments and output may hold escape sequences, line ends or right-to-left overrides, which could
repaint a terminal or disguise their surroundings: `printable` serves a line of a message, `clean` text that is kept.

A TODO is a comment with the work to do, and below it a statement that raises its number:

    # TODO 1.2: compute the scaled scores, exclude what the mask forbids,
    # and normalise over the keys.
    raise NotImplementedError("TODO 1.2")

The comment alone holds the text. Whoever shows the error looks it up there: `TODO 1.2: compute the scaled scores, …`.
"""

import linecache
import re
import textwrap
import traceback
import unicodedata
from collections.abc import Sequence

SHOWN_CHARACTERS, WIDTH = 200, 120
LAST_LINES, LAST_CHARACTERS = 20, 4000
"""That are shown of what a program printed: a `print` left in a loop would bury the message."""

_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SUSPECT = re.compile(r"[^\x20-\x7e\n\t]")
_CUT = " … [cut]"

COMMENT = re.compile(r"# TODO (?P<number>\d+\.\d+|E\.\d+): (?P<text>\S.*)")
"""The first line of the comment, without its indentation."""
TODO = re.compile(r"TODO (\d+\.\d+|E\.\d+)")  # the message of an error that marks one


def printable(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    r"""One line of at most `limit` characters in which every unprintable one is escaped: `\x1b`, `\n`, `\u202e`.

    Made printable once more, it stays as it is.
    """
    text = text[: limit + 1]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def wrapped(line: str) -> str:
    """An indented line of a list, whole, in as many lines of a terminal as it takes."""
    return textwrap.fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def clean(text: str, limit: int) -> str:
    """Text of several lines in which control, format, private and unassigned characters are U+FFFD.

    Newlines and tabs stay; a carriage return (of a progress bar) becomes a newline. Beyond the limit text is cut, and
    ends with a note of that.
    """
    text = text[: 2 * (limit + 1)].replace("\r\n", "\n").replace("\r", "\n")  # of two characters at least one stays
    text = _SUSPECT.sub(lambda match: "\ufffd" if unicodedata.category(match[0]) in _UNSAFE else match[0], text)
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT


def last_lines(text: str, where: str = "") -> str:
    """The end of what was printed, after a line that counts what is left out, and names the place of all of it."""
    kept = "".join(text.splitlines(keepends=True)[-LAST_LINES:])[-LAST_CHARACTERS:]
    left_out = text[: len(text) - len(kept)].splitlines()
    return f"… {counted(len(left_out), 'more line')}{where}\n{kept}" if left_out else kept


def line_of(error: UnicodeDecodeError) -> int:
    """The line, from 1, in which decoding a whole file has failed."""
    return error.object.count(b"\n", 0, error.start) + 1


def counted(value: float, unit: str) -> str:
    """A number and its unit, with an s unless it is one of them: `1 mark`, `2.5 points`, `1,203 sentences`."""
    number = f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{number} {unit}" if value == 1 else f"{number} {unit}s"


def as_score(score: float | None) -> str:
    """Points with at most two decimals; empty where there are none."""
    return "" if score is None else f"{score:.2f}".rstrip("0").rstrip(".")


def first_of(names: Sequence[str], most: int) -> str:
    """So many names, and how many more there are: `anna, bob and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def as_threshold(value: float) -> str:
    """A BLEU that is asked for, never rounded: `0.30`, `0.255`."""
    short = f"{value:.2f}"
    return short if float(short) == value else repr(value)


def with_comment(message: str, lines: Sequence[str], line: int) -> str:
    """The message of an error with the text of the comment above the statement that raised it, which is in this line.

    Where code stands between the two, the TODO may be done, and the statement left behind.
    """
    if not TODO.fullmatch(message):
        return message
    hint = hint_above(lines, line)
    if hint and message == f"TODO {hint[0]}":
        return f"{message}: {hint[1]}"
    return f"{message}: once that is written, delete the line that raises this error"


def hint_above(lines: Sequence[str], line: int) -> tuple[str, str] | None:
    """The number and the text of the TODO in the comment directly above a line, from 1; None where there is none."""
    parts: list[str] = []
    for above in reversed(lines[: max(line - 1, 0)]):
        comment = above.strip()
        if match := COMMENT.fullmatch(comment):
            return match["number"], " ".join(filter(None, [match["text"].strip(), *reversed(parts)]))
        if not comment.startswith("#"):
            return None
        parts.append(comment.lstrip("#").strip())
    return None


def with_its_comment(error: NotImplementedError) -> str:
    """The same for an error that was raised in this process."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return with_comment(str(error), linecache.getlines(frame.filename), frame.lineno or 0)
