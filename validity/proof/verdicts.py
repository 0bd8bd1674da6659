"""From runs to verdicts: is a fault found, who is blamed for it, and how near is code to the tolerances?"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from autograder.diagnosis.catalogue import Fault
from autograder.testing.results import State, tests_of
from foundation.assignment_file import Assignment

from ..run_tests import Run, finds_fault

APART = 10
"""Correct code stays below each tolerance, and each fault exceeds one of them, by at least this factor."""


@dataclass
class Verdict:
    """How the tests judge one fault.

    Attributes:
        fault: the fault that was put into the reference.
        killers: tests of the fault's own task that failed with some seed, the most frequent first.
        lost: points lost by task number (0 where a task has none to lose), the most over all seeds.
        missed_seeds: seeds with which the fault's own task lost nothing.
        scores: what the fault's own task earned, in points; the same with each seed, or neighbours get other marks.
        grader_errors: messages of tests that broke instead of failing.
        cpu_seconds: CPU time of all runs.
    """

    fault: Fault
    killers: list[str] = field(default_factory=list)
    lost: dict[str, float] = field(default_factory=dict)
    missed_seeds: list[int] = field(default_factory=list)
    scores: set[float] = field(default_factory=set)
    grader_errors: list[str] = field(default_factory=list)
    cpu_seconds: float = 0.0

    @property
    def is_killed(self) -> bool:
        """Whether it is found with every seed."""
        return not self.missed_seeds

    def wrongly_blamed(self, assignment: Assignment) -> list[str]:
        """Numbers of the tasks that lost points but do not judge the faulty component.

        A fault in a part that post-norm and pre-norm share may cost points in both; a fault of pre-norm alone may not.
        """
        judged = {task.number: task.components for task in assignment.tasks}
        is_extension = self.fault.task.startswith("E")
        return [
            number
            for number in self.lost
            if self.fault.component not in judged[number] or (is_extension and number != self.fault.task)
        ]

    @property
    def is_conditional(self) -> bool:
        """Whether the fault shows only under a condition."""
        return self.fault.severity == "conditional"

    def is_good(self, assignment: Assignment, may_escape: bool = False) -> bool:
        """Whether it is found with the same mark, unless it may escape, blamed rightly, and no test broke."""
        is_blameless = not self.wrongly_blamed(assignment) and not self.grader_errors
        return is_blameless and (may_escape or (self.is_killed and len(self.scores) == 1))


def verdict_of(fault: Fault, runs: Iterable[Run], assignment: Assignment) -> Verdict:
    """The verdict over all seeds."""
    verdict = Verdict(fault)
    counts: dict[str, int] = {}
    for run in runs:
        verdict.cpu_seconds += run.cpu_seconds
        ran = {result.task.number: result for result in tests_of(assignment, run.outcomes)}
        results = {number: result for number, result in ran.items() if result.outcomes}
        verdict.scores.add(round(results[fault.task].score, 2))
        if not finds_fault(results[fault.task].outcomes):
            verdict.missed_seeds.append(run.seed)
        for number, result in results.items():
            if finds_fault(result.outcomes):
                lost = round(result.task.points - result.score, 2)
                verdict.lost[number] = max(lost, verdict.lost.get(number, 0.0))
            for outcome in result.outcomes:
                if outcome.state == State.GRADER_ERROR:
                    verdict.grader_errors.append(f"{outcome.test}: {outcome.message}")
                elif outcome.state != State.PASSED and number == fault.task:
                    counts[outcome.test] = counts.get(outcome.test, 0) + 1
    verdict.killers = sorted(counts, key=lambda test: -counts[test])
    return verdict


@dataclass
class Margin:
    """The largest error of correct code in a numeric test, and the widest tolerance of its comparisons."""

    error: float = 0.0
    tolerance: float = 0.0

    @property
    def used(self) -> float:
        """The share of the tolerance that correct code uses."""
        return self.error / self.tolerance if self.tolerance else inf if self.error else 0.0


def add_to_margins(margins: dict[str, Margin], run: Run) -> None:
    """Adds what correct code's comparisons came to, by test."""
    for seen in run.observations:
        margin = margins.setdefault(seen.test, Margin())
        margin.error, margin.tolerance = max(margin.error, seen.error), max(margin.tolerance, seen.tolerance)


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
