"""The result of the proof."""

from dataclasses import dataclass

from foundation.assignment_file import Assignment

from .margins import Margin
from .reading_variants import Variant
from .verdicts import Verdict

ENOUGH = 0.85
"""Of the faults that show only under a condition, so many must be found; of all others, all."""


@dataclass
class Proof:
    """Verdicts, rejections and margins.

    Attributes:
        assignment: its tasks and points.
        verdicts: one per fault.
        variants: the variants that were tried.
        rejected: failures of correct code, by the name of the variant, "reference" among them.
        margins: one per numeric test.
        close: faults that were found only narrowly.
        seeds, variant_seeds: with how many seeds each fault and each variant was tried.
        cpu_seconds, wall_seconds: the time that all runs took.
        tests: that every fault was given: its own task's ("own", and all on one in ten) or "all".
    """

    assignment: Assignment
    verdicts: list[Verdict]
    variants: list[Variant]
    rejected: dict[str, list[str]]
    margins: list[Margin]
    close: list[str]
    seeds: int
    variant_seeds: int
    cpu_seconds: float
    wall_seconds: float
    tests: str = "all"

    @property
    def bad(self) -> list[Verdict]:
        """Faults that escape, or that cost points elsewhere; not those that escape under a condition."""
        return [
            verdict
            for verdict in self.verdicts
            if not verdict.is_good(self.assignment)
            and not (verdict.is_conditional and verdict.is_blameless(self.assignment))
        ]

    @property
    def conditional_share(self) -> float:
        """The share of the faults under a condition that are found; 1 where there are none."""
        conditional = [verdict.is_killed for verdict in self.verdicts if verdict.is_conditional]
        return sum(conditional) / len(conditional) if conditional else 1.0

    @property
    def wrong(self) -> dict[str, list[str]]:
        """Correct code that was rejected, with the failures."""
        return {name: messages for name, messages in self.rejected.items() if messages}

    @property
    def narrow(self) -> list[Margin]:
        """Tests in which correct code comes near the tolerance."""
        return [margin for margin in self.margins if not margin.is_wide]

    @property
    def holds(self) -> bool:
        """Whether every fault is found and blamed rightly, correct code passes, and tolerances are far from both."""
        return self.conditional_share >= ENOUGH and not (self.bad or self.wrong or self.narrow or self.close)
