"""Describes an exception of the submission for the trusted side: its kind, its message, line numbers.

The trusted side, which imports this before PyTorch, has the sources and quotes the lines itself.
"""

import traceback

IN_GRAPH = " computed"
"""The end of the name that is listed of an operation in the graph of a result."""
AT_IMPORT = "what is forbidden, while imported"
"""The name that is listed of a module that uses it then."""


class ForbiddenShortcut(RuntimeError):  # noqa: N818  students read this name
    """A submission used what students must write themselves."""


class UnreadableError(Exception):
    """A submission may be right, but no test can decide whether it is: a person has to read it."""


KINDS = (
    ForbiddenShortcut,
    UnreadableError,
    NotImplementedError,
    RecursionError,
    ZeroDivisionError,
    ArithmeticError,
    IndexError,
    KeyError,
    AttributeError,
    AssertionError,
    ImportError,
    SyntaxError,
    MemoryError,
    ValueError,
    TypeError,
    RuntimeError,
)
"""The most specific first: the first that fits names the kind."""

MAX_MESSAGE = 4_000
MAX_FRAMES, MAX_NAME = 16, 80
OUT_OF_MEMORY_SIGNS = ("can't allocate memory", "not enough memory")


def describe(error: BaseException, paths: frozenset[str]) -> dict[str, object]:
    """Kind, message and frames (path, line, function) of an exception; frames in other files are left out."""
    kind = next((kind.__name__ for kind in KINDS if isinstance(error, kind)), "")
    message = _message(error)
    if any(sign in message for sign in OUT_OF_MEMORY_SIGNS):
        kind = "MemoryError"
    if not kind:
        message = f"{' '.join(type(error).__name__[:MAX_NAME].split())}: {message}"
    return {"kind": kind, "message": message[:MAX_MESSAGE], "frames": _frames(error, paths)}


def _message(error: BaseException) -> str:
    try:
        if isinstance(error, KeyError) and len(error.args) == 1:
            return repr(error.args[0])[:MAX_MESSAGE]
        if isinstance(error, SyntaxError):
            return str(error.msg)
        return str(error)[:MAX_MESSAGE]
    except BaseException:  # the submission's own __str__ may raise anything
        return "(the exception's text could not be made)"


def _frames(error: BaseException, paths: frozenset[str]) -> list[list[str | int]]:
    frames: list[list[str | int]] = [
        [frame.f_code.co_filename, line, frame.f_code.co_name[:80]]
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename in paths
    ]
    if isinstance(error, SyntaxError) and error.filename in paths:
        frames.append([error.filename, error.lineno or 0, "<module>"])
    if len(frames) > MAX_FRAMES:  # a recursion: its two ends are enough
        frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
    return frames
