"""How far apart correct code and faults are in each numeric test; the tolerances are derived from this."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..run_tests import Observation, Run

APART = 10
"""Correct code stays below each tolerance, and each fault exceeds one of them, by at least this factor."""


@dataclass
class Margin:
    """One test.

    Attributes:
        test: its task and name.
        tolerance: the widest of its comparisons, relative to 1 + the expected size.
        correct: the largest error of correct code.
        fault: the smallest error with which a comparison of this test failed; None where none did.
        nearest: the fault with that error.
        hidden: the largest error of a fault that a comparison accepted (another test found it).
    """

    test: str
    tolerance: float = 0.0
    correct: float = 0.0
    fault: float | None = None
    nearest: str = ""
    hidden: float = 0.0

    @property
    def is_wide(self) -> bool:
        """Correct code is the factor APART below the tolerance, and so below the faults that this test finds."""
        return self.correct * APART <= self.tolerance


def is_clear(run: Run) -> bool:
    """Whether a fault was found clearly: a test failed by the factor APART, or otherwise than by a number.

    A single number may come near the right one by chance; all numbers of a fault must not.
    """
    missed = ((task, outcome) for task, outcomes in run.outcomes.items() for outcome in outcomes if outcome.is_missed)
    tests = {f"{task}: {outcome.test}" for task, outcome in missed}
    wrong = [seen for seen in run.observations if seen.error > seen.tolerance]
    clearly = {seen.test for seen in wrong if seen.error >= seen.tolerance * APART}
    by_a_hair = {seen.test for seen in wrong} - clearly
    return not tests or bool(tests - by_a_hair)


class Margins:
    """Collects the comparisons of many runs.

    Attributes:
        close: faults that were found only narrowly, with their seeds.
    """

    def __init__(self) -> None:
        self.close: list[str] = []
        self._by_test: dict[str, Margin] = {}

    def add_correct(self, run: Run) -> None:
        """Adds a run of correct code."""
        for margin, seen in self._comparisons(run):
            margin.correct = max(margin.correct, seen.error)

    def add_faulty(self, run: Run) -> None:
        """Adds a run of code with a fault."""
        if not is_clear(run):
            self.close.append(f"{run.version}, seed {run.seed}")
        for margin, seen in self._comparisons(run):
            if seen.error <= seen.tolerance:
                margin.hidden = max(margin.hidden, seen.error)
            elif margin.fault is None or seen.error < margin.fault:
                margin.fault, margin.nearest = seen.error, run.version.removeprefix("fault ")

    def _comparisons(self, run: Run) -> Iterator[tuple[Margin, Observation]]:
        for seen in run.observations:
            margin = self._by_test.setdefault(seen.test, Margin(seen.test))
            margin.tolerance = max(margin.tolerance, seen.tolerance)
            yield margin, seen

    def all(self) -> list[Margin]:
        """The margins by task and test."""
        return [self._by_test[test] for test in sorted(self._by_test)]
