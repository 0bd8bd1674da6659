"""The states that a test or a task can end in, from the best to the worst."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class State(StrEnum):
    """How a test or a task ended. The worst state of its tests is the task's."""

    PASSED = "passed"
    NEEDS_READER = "needs a reader"  # it looks right, and no test can tell: never counts as zero without a human look
    NOT_ATTEMPTED = "not attempted"  # the TODO is still there, or nothing was handed in
    FAILED = "failed"  # it ran and did something other than the contract says
    ERROR = "error"  # submitted code raised an exception, or ended its process
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out of memory"
    REFUSED = "refused"  # against the rules of the assignment
    NOT_GRADED = "not graded"  # what was handed in cannot be read: never counts as zero without a human look
    GRADER_ERROR = "grader error"  # our fault: never counts as zero without a human look
    PENDING = "pending"  # not graded yet

    @property
    def has_mark(self) -> bool:
        """Whether it is a judgement; a part in any other state has no score at all."""
        return self.is_final and self not in (State.NEEDS_READER, State.NOT_GRADED)

    @property
    def is_final(self) -> bool:
        """Whether another grading would end the same way."""
        return self not in (State.GRADER_ERROR, State.PENDING)

    @property
    def is_missed(self) -> bool:
        """Whether something went wrong, as opposed to nothing having been tried."""
        return self not in (State.PASSED, State.NEEDS_READER, State.NOT_ATTEMPTED)

    @property
    def needs_a_look(self) -> bool:
        """Whether a person should look at the part, since the score alone may mislead."""
        return not self.has_mark or self in (State.REFUSED, State.TIMEOUT, State.OUT_OF_MEMORY)


def worst(states: Iterable[State]) -> State:
    """The worst of several states."""
    return max(states, key=list(State).index)
