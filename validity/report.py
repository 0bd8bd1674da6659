"""The results of the proof: verdicts, for the terminal and as pages for docs/proof.

The pages hold no times or dates: they change only when a result does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.catalogue import Fault
from foundation.assignment_file import Assignment

from .console import table, write_page
from .variants import Variant

ENOUGH = 0.85
"""Of the faults that show only under a condition, so many must be found; of all others, all."""
TESTS = {"own": "the tests of their own components", "all": "all tests with the first seed"}


@dataclass
class Verdict:
    """How the tests judge one fault.

    Attributes:
        fault: the fault that was put into the reference.
        killers: tests of the fault's own task that failed with some seed, the most frequent first.
        lost: points lost by task number (0 where a task has none to lose), the most over all seeds.
        wrongly_blamed: numbers of the tasks that lost points but do not judge the faulty component. A fault in a part
            that post-norm and pre-norm share may cost points in both; a fault of pre-norm alone may not.
        missed_seeds: seeds with which the fault's own task lost nothing.
        scores: what the fault's own task earned, in points; the same with each seed, or neighbours get other marks.
        items: those of its own task's rubric that had a test which failed with some seed, in the rubric's order.
        grader_errors: messages of tests that broke instead of failing.
    """

    fault: Fault
    killers: list[str] = field(default_factory=list)
    lost: dict[str, float] = field(default_factory=dict)
    wrongly_blamed: list[str] = field(default_factory=list)
    missed_seeds: list[int] = field(default_factory=list)
    scores: set[float] = field(default_factory=set)
    items: list[str] = field(default_factory=list)
    grader_errors: list[str] = field(default_factory=list)

    @property
    def is_killed(self) -> bool:
        """True if it is found with every seed."""
        return not self.missed_seeds

    @property
    def is_good(self) -> bool:
        """True if it is found with the same mark (unless it shows only under a condition), and nothing else fails."""
        is_found = self.is_killed and len(self.scores) == 1
        is_blameless = not self.wrongly_blamed and not self.grader_errors
        return is_blameless and (is_found or self.fault.severity == "conditional")

    @property
    def flaws(self) -> list[str]:
        """The flaws in capitals, for a table."""
        flaws = [f"SURVIVED with seeds {self.missed_seeds[:5]}"] if self.missed_seeds else []
        if len(self.scores) > 1:
            flaws.append(f"MARKS DIFFER WITH THE SEED: {', '.join(f'{score:g}' for score in sorted(self.scores))}")
        flaws += [f"WRONG BLAME {', '.join(self.wrongly_blamed)}"] if self.wrongly_blamed else []
        return flaws + [f"TEST BROKE {message}" for message in self.grader_errors[:1]]


@dataclass
class Proof:
    """The results.

    Attributes:
        assignment: its tasks and points.
        verdicts: one per fault.
        variants: the variants that were tried.
        seeds, variant_seeds: with how many seeds each fault and each variant was tried.
        tests: that each was given with the first seed: of the tasks of its components ("own") or "all".
        wrong: failures of correct code that was rejected, by the name of the variant, or "reference".
    """

    assignment: Assignment
    verdicts: list[Verdict]
    variants: list[Variant]
    seeds: int = 1
    variant_seeds: int = 1
    tests: str = "own"
    wrong: dict[str, list[str]] = field(default_factory=dict)

    @property
    def bad(self) -> list[Verdict]:
        """Faults that escape, but not under a condition, and those that cost points elsewhere."""
        return [verdict for verdict in self.verdicts if not verdict.is_good]

    @property
    def n_killed(self) -> int:
        """The number of faults that are found with every seed."""
        return sum(verdict.is_killed for verdict in self.verdicts)

    @property
    def n_right(self) -> int:
        """The number of faults that cost points in no task but those of the faulty component."""
        return sum(not verdict.wrongly_blamed for verdict in self.verdicts)

    @property
    def conditional_share(self) -> float:
        """The share of the faults under a condition that are found; 1 where there are none."""
        conditional = [verdict.is_killed for verdict in self.verdicts if verdict.fault.severity == "conditional"]
        return sum(conditional) / len(conditional) if conditional else 1.0

    @property
    def holds(self) -> bool:
        """True if every fault is found and blamed rightly, and correct code passes."""
        return self.conditional_share >= ENOUGH and not (self.bad or self.wrong)


def blame_table(proof: Proof) -> str:
    """How many faults of each component are found, and what share of them costs each task points.

    A component's extension has a row of its own.
    """
    numbers = [task.number for task in proof.assignment.tasks if task.components]
    order = [component for task in proof.assignment.tasks for component in task.components]
    rows: dict[str, list[Verdict]] = {}
    for verdict in sorted(proof.verdicts, key=lambda v: (order.index(v.fault.component), v.fault.task)):
        name, task = verdict.fault.component.split(".")[1], verdict.fault.task
        if task.startswith("E") and name in rows and rows[name][0].fault.task != task:
            name = f"{name}, {task}"
        rows.setdefault(name, []).append(verdict)

    def share(number: str, own: list[Verdict]) -> str:
        count = sum(number in verdict.lost for verdict in own)
        return f"{count / len(own):.0%}" if count else ""

    cells = (
        (name, len(own), sum(verdict.is_killed for verdict in own), *(share(number, own) for number in numbers))
        for name, own in rows.items()
    )
    return table(("fault in", "faults", "found", *numbers), cells)


def faults_table(verdicts: Sequence[Verdict]) -> str:
    """Each fault with what finds it, what it costs, and what is wrong with that."""
    rows = (
        (
            f"`{verdict.fault.id}`",
            verdict.fault.when,
            verdict.fault.severity,
            verdict.killers[0] if verdict.killers else "nothing",
            max(0, len(verdict.killers) - 1) or "",
            ", ".join([*(f"{task} (-{points:g})" for task, points in verdict.lost.items()), *verdict.flaws]),
        )
        for verdict in verdicts
    )
    return table(("fault", "code that …", "severity", "found by", "and others", "costs"), rows)


def items_table(verdicts: Sequence[Verdict]) -> str:
    """Which items of its task's rubric each fault costs; the faults that cost the same ones are in one row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.fault.task, *verdict.items), []).append(verdict.fault.id)
    ordered = sorted(rows.items(), key=lambda row: (row[0][0], len(row[0]), -len(row[1])))
    cells = (
        (task, " · ".join(items) or "none", len(faults), ", ".join(f"`{fault}`" for fault in faults))
        for (task, *items), faults in ordered
    )
    return table(("task", "items with a failed test", "faults", "which"), cells)


def as_text(proof: Proof, show_all: bool) -> str:
    """The report for the terminal; `show_all` also lists the faults that were found."""
    shown = proof.verdicts if show_all else proof.bad
    parts = [faults_table(shown)] if shown else []
    if proof.verdicts:
        parts.append(blame_table(proof))
        parts.append(
            f"{len(proof.verdicts)} faults, {proof.n_killed} found; of those under a condition "
            f"{proof.conditional_share:.1%}; seeds: {proof.seeds}; {TESTS[proof.tests]}"
        )
    lines = [f"REJECTED {name} ({len(failures)} times): {failures[0]}" for name, failures in proof.wrong.items()]
    if proof.variants:
        counts = f"variants: {len(proof.variants)}, wrongly rejected: {len(proof.wrong)}"
        lines.append(f"{counts}, seeds: {proof.variant_seeds}")
    return "\n\n".join([*parts, "\n".join(lines)])


def write_pages(proof: Proof, folder: Path) -> None:
    """Write README.md, and where faults were tried their lists."""
    if proof.verdicts:
        write_page(folder, "faults", n_faults=len(proof.verdicts), table=faults_table(proof.verdicts))
        write_page(folder, "items", table=items_table(proof.verdicts))
    rows = ((f"`{variant.name}`", variant.difference.rstrip("."), variant.where) for variant in proof.variants)
    variants = table(("variant", "what is different", "where"), rows)
    texts = {"tests": TESTS[proof.tests], "blame": blame_table(proof), "variants": variants, "in_seeds": in_seeds}
    write_page(folder, "README", proof=proof, **texts)


def in_seeds(count: int) -> str:
    """The number of seeds in words."""
    return "one seed" if count == 1 else f"{count} seeds"
