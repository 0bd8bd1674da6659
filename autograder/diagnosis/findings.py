"""The result of a diagnosis, and what it may cost."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Misconception:
    """The submission behaves like code with a known fault.

    Attributes:
        text: for the student.
        fault: id of the fault.
        others: ids of the faults that no test tells from it.
        explains_all: it gives the submission's answers in every test.
    """

    text: str
    fault: str
    others: tuple[str, ...] = ()
    explains_all: bool = True


class Budget:
    """Answers that may still be compared for one submission: counted, so that it always gets the same words.

    A step may overdraw the budget: whoever works on it asks `is_spent()` before the next step.
    """

    def __init__(self, comparisons: int) -> None:
        """Starts with this many."""
        self._left = comparisons

    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self._left <= 0

    def spend(self, comparisons: int = 1) -> None:
        """Takes some away."""
        self._left -= comparisons
