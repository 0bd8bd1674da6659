"""How text from strangers is shown."""

SHOWN_CHARACTERS = 200


def printable(text: str, limit: int = SHOWN_CHARACTERS) -> str:
    """Text that is safe on a terminal: characters that steer it are escaped, and long text is cut.

    A file name or an argument may hold escape sequences, line ends or right-to-left overrides, which could
    repaint the grader's screen; they come out as `\\x1b`, `\\n`, `\\u202e`.

    Args:
        text: any string, lone surrogates included.
        limit: the most characters of it that are shown.

    Returns:
        One line that holds nothing but printable characters.
    """
    shown = text if len(text) <= limit else text[: limit - 3] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)
