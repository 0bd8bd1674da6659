"""The wording of a TODO: a comment that says what to write, and below it a statement that raises its number.

    # TODO 1.2: compute the scaled scores, exclude what the mask forbids,
    # and normalise over the keys.
    raise NotImplementedError("TODO 1.2")

The comment is the only place that holds the text. Whoever shows the error to a student looks the text up there, so that
it reads `TODO 1.2: compute the scaled scores, …`.
"""

import linecache
import re
import traceback
from collections.abc import Sequence

COMMENT = re.compile(r"# TODO (?P<number>\d+\.\d+|E\.\d+): (?P<text>\S.*)")
"""The first line of the comment, without its indentation."""

_LABEL = re.compile(r"TODO (\d+\.\d+|E\.\d+)")


def label_of(number: str) -> str:
    """What the statement raises: `TODO 1.2`."""
    return f"TODO {number}"


def with_comment(message: str, lines: Sequence[str], line: int) -> str:
    """The message of an error with the text of the comment above the statement that raised it.

    Args:
        message: of the error.
        lines: of the file in which it was raised.
        line: number of the statement, from 1.

    Returns:
        `TODO 1.2: compute the scaled scores, …`; the message as it is where no such comment stands there.
    """
    label = _LABEL.fullmatch(message)
    if not label or not 1 < line <= len(lines):
        return message
    parts: list[str] = []
    for above in range(line - 2, -1, -1):
        comment = lines[above].strip()
        if not comment.startswith("#"):
            break
        if match := COMMENT.fullmatch(comment):
            if match["number"] != label[1]:
                break
            return " ".join(filter(None, [f"{message}:", match["text"].strip(), *reversed(parts)]))
        parts.append(comment.lstrip("#").strip())
    return message


def told_by(error: NotImplementedError) -> str:
    """The same for an error that was raised in this process."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return str(error)
    return with_comment(str(error), linecache.getlines(frames[-1].filename), frames[-1].lineno or 0)
