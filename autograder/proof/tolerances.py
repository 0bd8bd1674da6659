"""How far correct code and faults are apart in each numeric test: what the tolerances are derived from."""

from collections.abc import Iterable
from dataclasses import dataclass

from .bench import Run


@dataclass
class Margin:
    """One test.

    Attributes:
        test: task and name.
        tolerance: of its comparisons, relative to 1 + the expected size; the widest where they differ.
        correct: the largest error of correct code.
        fault: the smallest error by which the test failed a fault; None where it failed none by a number.
        n_correct, n_faults: how many comparisons that rests on.
    """

    test: str
    tolerance: float = 0.0
    correct: float = 0.0
    fault: float | None = None
    n_correct: int = 0
    n_faults: int = 0

    @property
    def is_wide(self) -> bool:
        """A factor 10 between correct code and the tolerance, and between the tolerance and any fault."""
        return self.correct * 10 <= self.tolerance and (self.fault is None or self.fault >= self.tolerance * 10)


class Margins:
    """Collects the comparisons of many runs."""

    def __init__(self) -> None:
        self._by_test: dict[str, Margin] = {}

    def add_correct(self, runs: Iterable[Run]) -> None:
        """Runs of code that is right."""
        for run in runs:
            for seen in run.observations:
                margin = self._by_test.setdefault(seen.test, Margin(seen.test))
                margin.tolerance = max(margin.tolerance, seen.tolerance)
                margin.correct = max(margin.correct, seen.error)
                margin.n_correct += 1

    def add_faulty(self, runs: Iterable[Run]) -> None:
        """Runs of code with a fault: the comparisons that failed count."""
        for run in runs:
            for seen in run.observations:
                if seen.error > seen.tolerance:
                    margin = self._by_test.setdefault(seen.test, Margin(seen.test, seen.tolerance))
                    margin.fault = seen.error if margin.fault is None else min(margin.fault, seen.error)
                    margin.n_faults += 1

    def all(self) -> list[Margin]:
        """By task and test."""
        return [self._by_test[test] for test in sorted(self._by_test)]


def as_markdown(margins: list[Margin]) -> str:
    """A table, one line a test."""
    lines = [
        "| test | largest error of correct code | tolerance | smallest error of a fault |",
        "|---|---|---|---|",
    ]
    for margin in margins:
        fault = "-" if margin.fault is None else f"{margin.fault:.1e}"
        note = "" if margin.is_wide else " (!)"
        test = margin.test.replace("|", "/")
        lines.append(f"| {test} | {margin.correct:.1e} | {margin.tolerance:.0e} | {fault}{note} |")
    return "\n".join(lines) + "\n"
