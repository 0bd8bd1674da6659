"""Failures of submitted code as exceptions of the trusted side.

A worker sends only text, which is cleaned, and the name of a kind, which counts only if it is one of `KINDS`.
"""

from foundation.texts import clean

from .worker.failures import KINDS, ForbiddenShortcut

MAX_MESSAGE = 2_000
MAX_TRACEBACK = 4_000


class SandboxUnavailableError(Exception):
    """The machine lacks the required containment, or has ended a worker; no submission may pay for it."""


class SubmissionError(Exception):
    """Submitted code failed; has the message, and the submission's frames with their lines, both cleaned and cut."""

    def __init__(self, message: str, student_traceback: str = "") -> None:
        self.message = clean(message, MAX_MESSAGE)
        self.student_traceback = clean(student_traceback, MAX_TRACEBACK)
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class SubmissionTimeoutError(SubmissionError, TimeoutError):
    """A call took too long, or the total time is used up."""


class SubmissionDiedError(SubmissionError):
    """The worker ended, or broke the protocol, during a call; or an object of an ended worker was used."""


class SubmissionRefusedError(SubmissionError):
    """The submission used a component that it was asked to write itself."""


_CLASSES: dict[str, type[SubmissionError]] = {
    kind.__name__: type(f"Submission{kind.__name__}", (SubmissionError, kind), {"__module__": __name__})
    for kind in KINDS
}
_CLASSES[ForbiddenShortcut.__name__] = SubmissionRefusedError


def submission_error(kind: str, message: str, student_traceback: str = "") -> SubmissionError:
    """An error that is a SubmissionError and, if `kind` is the name of one of KINDS, also that exception."""
    return _CLASSES.get(kind, SubmissionError)(message, student_traceback)
