"""How far correct code and faults are apart in each numeric test: what the tolerances are derived from."""

from collections.abc import Iterator
from dataclasses import dataclass

from .bench import Observation, Run

APART = 10
"""At least this factor lies between correct code and the tolerance, and between the tolerance and any fault."""


@dataclass
class Margin:
    """One test.

    Attributes:
        test: task and name.
        tolerance: of its comparisons, relative to 1 + the expected size; the widest where they differ.
        correct: the largest error of correct code.
        fault: the smallest error by which a comparison of this test failed; None where none did.
        hidden: the largest error of a fault that a comparison let pass (another test found it).
    """

    test: str
    tolerance: float = 0.0
    correct: float = 0.0
    fault: float | None = None
    hidden: float = 0.0

    @property
    def is_wide(self) -> bool:
        """Correct code and the faults that this test finds are both the factor APART from the tolerance."""
        is_below = self.correct * APART <= self.tolerance
        return is_below and (self.fault is None or self.fault >= self.tolerance * APART)


class Margins:
    """Collects the comparisons of many runs."""

    def __init__(self) -> None:
        self._by_test: dict[str, Margin] = {}

    def add_correct(self, run: Run) -> None:
        """A run of code that is right."""
        for margin, seen in self._comparisons(run):
            margin.correct = max(margin.correct, seen.error)

    def add_faulty(self, run: Run) -> None:
        """A run of code with a fault."""
        for margin, seen in self._comparisons(run):
            if seen.error <= seen.tolerance:
                margin.hidden = max(margin.hidden, seen.error)
            else:
                margin.fault = seen.error if margin.fault is None else min(margin.fault, seen.error)

    def _comparisons(self, run: Run) -> Iterator[tuple[Margin, Observation]]:
        for seen in run.observations:
            margin = self._by_test.setdefault(seen.test, Margin(seen.test))
            margin.tolerance = max(margin.tolerance, seen.tolerance)
            yield margin, seen

    def all(self) -> list[Margin]:
        """By task and test."""
        return [self._by_test[test] for test in sorted(self._by_test)]
