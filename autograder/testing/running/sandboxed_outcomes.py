"""From the exception that ended a test of a sandboxed submission to its state and the message for the student."""

from __future__ import annotations

from ...grading.states import State
from ...sandbox.errors import (
    SubmissionDiedError,
    SubmissionError,
    SubmissionOutOfMemoryError,
    SubmissionRefusedError,
    SubmissionTimeoutError,
)
from .checking_time import CheckingTimeoutError
from .outcomes import classify

MAX_MESSAGE = 4000

STATES: tuple[tuple[type[BaseException], State], ...] = (
    # The first that fits.
    (SubmissionTimeoutError, State.TIMEOUT),
    (CheckingTimeoutError, State.TIMEOUT),
    (SubmissionOutOfMemoryError, State.OUT_OF_MEMORY),
    (SubmissionDiedError, State.ERROR),
    (SubmissionRefusedError, State.REFUSED),
    (MemoryError, State.OUT_OF_MEMORY),
    (SubmissionError, State.ERROR),
)


def classify_sandboxed(error: BaseException | None) -> tuple[State, str]:
    """State and message of a test that ended with this exception, or with none."""
    state, message = classify(error, _classify_other)
    return state, message[:MAX_MESSAGE]


def _classify_other(error: BaseException) -> tuple[State, str]:
    message = str(error)
    state = next((state for kind, state in STATES if isinstance(error, kind)), State.GRADER_ERROR)
    if state == State.ERROR:
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
        message = f"{kinds[0]}: {message}" if kinds and kinds[0] != "Exception" else message
    elif state == State.GRADER_ERROR:
        message = f"the grader failed, please tell your instructor: {type(error).__name__}: {message}"
    return state, message
