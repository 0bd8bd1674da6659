"""From the exception that ends a test to the test's state, as far as that is the same wherever the submission runs."""

from collections.abc import Callable

import pytest

from foundation.todo_wording import told_by

from ...grading.states import State
from ..errors import CheckFailed, UnreadableError


def classify(error: BaseException | None, other: Callable[[BaseException], tuple[State, str]]) -> tuple[State, str]:
    """State and message of a test.

    Args:
        error: the exception that ended it, if any.
        other: classifies every exception but a failed check and a TODO. What these mean differs between the sandbox,
            a notebook's kernel and the proof.
    """
    if error is None:
        return State.PASSED, ""
    if isinstance(error, UnreadableError):
        return State.NEEDS_READER, str(error)
    if isinstance(error, CheckFailed):
        return State.FAILED, str(error)
    if isinstance(error, pytest.fail.Exception):  # pytest.raises saw no exception
        return State.FAILED, f"an exception was expected: {error}"
    if isinstance(error, NotImplementedError):
        return State.NOT_ATTEMPTED, told_by(error) or "not implemented yet"
    return other(error)
