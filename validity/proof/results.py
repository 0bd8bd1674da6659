"""What comes out of `prove` and of `mutate`."""

from dataclasses import dataclass

from foundation.assignment_file import Assignment

from ..mutation.mutants import Equivalent, Mutant
from .tolerances import Margin
from .variants import Variant
from .verdicts import Verdict


@dataclass
class Proof:
    """What came out.

    Attributes:
        verdicts: one a fault.
        variants: that were tried.
        rejected: what tests wrongly said to correct code, by the name of the variant, "reference" among them.
        margins: one a numeric test.
        close: faults that were found by a hair only.
        seeds, variant_seeds: how many seeds each fault and each variant was tried with.
        cpu_seconds, wall_seconds: what that took.
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

    @property
    def bad(self) -> list[Verdict]:
        """Faults that escape, or that cost points elsewhere."""
        return [verdict for verdict in self.verdicts if not verdict.is_good(self.assignment)]

    @property
    def wrong(self) -> dict[str, list[str]]:
        """Correct code that was rejected."""
        return {name: messages for name, messages in self.rejected.items() if messages}

    @property
    def narrow(self) -> list[Margin]:
        """Tests in which correct code comes near the tolerance."""
        return [margin for margin in self.margins if not margin.is_wide]

    @property
    def holds(self) -> bool:
        return not (self.bad or self.wrong or self.narrow or self.close)


@dataclass
class Mutation:
    """What came out.

    Attributes:
        mutants: that were tried.
        passed: names of those that no test failed.
        reasons: why a mutant is right, by key, as listed.
        stale: entries of the list that name no mutant.
        broken: messages of tests that broke instead of failing.
        cpu_seconds, wall_seconds: what that took.
    """

    mutants: list[Mutant]
    passed: set[str]
    reasons: dict[tuple[str, str, str], str]
    stale: list[Equivalent]
    broken: list[str]
    cpu_seconds: float
    wall_seconds: float

    @property
    def killed(self) -> list[Mutant]:
        return [mutant for mutant in self.mutants if mutant.name not in self.passed]

    @property
    def equivalent(self) -> list[Mutant]:
        """Those that passed, and that the list explains."""
        return [mutant for mutant in self.mutants if mutant.name in self.passed and mutant.key in self.reasons]

    @property
    def survivors(self) -> list[Mutant]:
        return [mutant for mutant in self.mutants if mutant.name in self.passed and mutant.key not in self.reasons]

    @property
    def wrongly_listed(self) -> list[Mutant]:
        """Listed as equivalent, but killed."""
        return [mutant for mutant in self.killed if mutant.key in self.reasons]

    @property
    def holds(self) -> bool:
        return not (self.survivors or self.wrongly_listed or self.stale or self.broken)

    def counts(self, task: str | None = None, operator: str | None = None) -> tuple[int, int, int, int]:
        """How many mutants there are, are killed, equivalent, and survive; of one task or operator, or of all."""
        groups = self.mutants, self.killed, self.equivalent, self.survivors
        return tuple(sum(task in (None, m.task) and operator in (None, m.operator) for m in g) for g in groups)
