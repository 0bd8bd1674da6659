"""Where bytes are no text."""


def line_of(error: UnicodeDecodeError) -> int:
    """The line, from 1, in which decoding a whole file has failed."""
    return error.object.count(b"\n", 0, error.start) + 1
