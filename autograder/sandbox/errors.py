"""What can go wrong with a submission, as exceptions of the trusted side. Nothing here comes from the worker
but text, and that is cleaned."""

from __future__ import annotations

import builtins

from foundation.printable_text import clean

MAX_MESSAGE = 2_000
MAX_TRACEBACK = 4_000
MIRRORED = (
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "ImportError",
    "IndexError",
    "KeyError",
    "MemoryError",
    "NotImplementedError",
    "RecursionError",
    "RuntimeError",
    "SyntaxError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
)


class SandboxUnavailableError(Exception):
    """The machine does not offer the containment that was asked for, or the worker could not be started.

    A fault of the grader's side: no submission may lose points for it.
    """


class SubmissionError(Exception):
    """Submitted code failed.

    Attributes:
        message: its own words, at most 2 kB, control characters replaced.
        student_traceback: the submission's frames, file, line and source, at most 4 kB; may be empty.
    """

    def __init__(self, message: str, student_traceback: str = "") -> None:
        self.message = clean(message, MAX_MESSAGE)
        self.student_traceback = clean(student_traceback, MAX_TRACEBACK)
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class SubmissionTimeoutError(SubmissionError):
    """A call took too long, or a total budget of time is used up."""


class SubmissionDiedError(SubmissionError):
    """The worker ended, or broke the protocol, during a call; or an object of an ended worker was used."""


class SubmissionOutOfMemoryError(SubmissionDiedError, MemoryError):
    """The worker was ended by the system, most likely for its memory."""


class SubmissionRefusedError(SubmissionError):
    """The submission used what it was to write itself."""


_CLASSES = {
    name: type(f"Submission{name}", (SubmissionError, getattr(builtins, name)), {"__module__": __name__})
    for name in MIRRORED
}
_CLASSES["ForbiddenShortcut"] = SubmissionRefusedError


def submission_error(kind: str, message: str, student_traceback: str = "") -> SubmissionError:
    """An error that is both a SubmissionError and the builtin exception called `kind`, if that is one we mirror."""
    return _CLASSES.get(kind, SubmissionError)(message, student_traceback)
