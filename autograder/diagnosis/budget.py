"""How much work a diagnosis may take: counted, not timed, so that the same submission always gets the same words."""


class Budget:
    """Answers that may still be compared for one submission.

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
