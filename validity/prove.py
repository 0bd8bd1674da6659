"""Runs the component tests on all faults and variants.

Each gets the tests of the tasks that judge its components, with every seed. `--tests all` gives it all tests with the
first seed, so that wrong blame shows anywhere.

A verdict says whether a fault is found, who is blamed for it, and how near code is to the tolerances.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import inf

from autograder.diagnosis.catalogue import CatalogueError, Fault, apply, read_catalogue
from autograder.sources import Sources, read_sources
from autograder.testing.results import State, tests_of
from foundation.assignment_file import Assignment, read_assignment

from .run_tests import Run, Version, finds_fault, markers_of_tasks, progress_bar, run_versions
from .variants import Variant, read_variants

ENOUGH = 0.85
"""Of the faults that show only under a condition, so many must be found; of all others, all."""
APART = 10
"""Correct code stays below each tolerance, and each fault exceeds one of them, by at least this factor."""


@dataclass
class Proof:
    """What was found.

    Attributes:
        assignment: its tasks and points.
        verdicts: one per fault.
        variants: the variants that were tried.
        wrong: failures of correct code that was rejected, by the name of the variant, or "reference".
        margins: how near correct code comes to the tolerance, by numeric test.
        close: faults that were found only narrowly.
        seeds, variant_seeds: with how many seeds each fault and each variant was tried.
        cpu_seconds, wall_seconds: the time that all runs took.
        tests: that each was given with the first seed: of the tasks of its components ("own") or "all".
    """

    assignment: Assignment
    verdicts: list[Verdict]
    variants: list[Variant]
    wrong: dict[str, list[str]]
    margins: dict[str, Margin]
    close: list[str]
    seeds: int
    variant_seeds: int
    cpu_seconds: float
    wall_seconds: float
    tests: str = "own"

    @property
    def bad(self) -> list[Verdict]:
        """Faults that escape, but not under a condition, and those that cost points elsewhere."""
        return [one for one in self.verdicts if not one.is_good(self.assignment, may_escape=one.is_conditional)]

    @property
    def conditional_share(self) -> float:
        """The share of the faults under a condition that are found; 1 where there are none."""
        conditional = [verdict.is_killed for verdict in self.verdicts if verdict.is_conditional]
        return sum(conditional) / len(conditional) if conditional else 1.0

    @property
    def narrow(self) -> dict[str, Margin]:
        """Tests in which correct code comes near the tolerance."""
        return {test: margin for test, margin in sorted(self.margins.items()) if margin.used * APART > 1}

    @property
    def holds(self) -> bool:
        """Whether every fault is found and blamed rightly, correct code passes, and tolerances are far from both."""
        return self.conditional_share >= ENOUGH and not (self.bad or self.wrong or self.narrow or self.close)


def run_proof(options: argparse.Namespace) -> Proof:
    """Runs whatever the options ask for.

    Raises:
        CatalogueError: naming the fault that cannot be used.
        VariantError: naming the variant that cannot be used.
        CollectionError: where the tests cannot be collected.
    """
    assignment = read_assignment(options.assignment)
    # Answers to questions about the reference's own code are wrong for any other.
    assignment = replace(assignment, tasks=tuple(task for task in assignment.tasks if not task.is_answered))
    reference = read_sources(options.reference, options.reference)
    faults = [] if options.only == "variants" else choose_faults(options, assignment)
    variants = [] if options.only == "faults" else choose_variants(options, reference, assignment)
    if not faults and not variants:
        raise CatalogueError("nothing matches --component and --fault")
    variant_seeds = options.variant_seeds or options.seeds
    seeds, further = range(options.seeds), range(variant_seeds)
    versions = [Version("reference", reference, further)]
    every = tuple(task.marker for task in assignment.tasks) if options.tests == "all" else ()
    for fault in faults:
        own = markers_of_tasks(assignment, [fault.component])
        versions += with_seeds(f"fault {fault.id}", apply(fault, reference), seeds, own, every)
    for variant in variants:
        only = seeds[:1] if variant.is_same_code else further
        own = markers_of_tasks(assignment, variant.components)
        versions += with_seeds(f"variant {variant.name}", variant.sources, only, own, every)
    runs: dict[str, list[Run]] = {version.name: [] for version in versions}
    margins: dict[str, Margin] = {}
    wrong: dict[str, list[str]] = {}
    close: list[str] = []
    conditional = {f"fault {fault.id}" for fault in faults if fault.severity == "conditional"}
    start = time.perf_counter()
    with progress_bar(sum(len(version.seeds) for version in versions), "prove") as bar:

        def keep(run: Run) -> None:
            runs[run.version].append(run)
            if run.version.startswith("fault "):
                may_escape = run.version in conditional
                close.extend([] if may_escape or is_clear(run) else [f"{run.version}, seed {run.seed}"])
            else:
                if messages := rejections(run):
                    wrong.setdefault(run.version.removeprefix("variant "), []).extend(messages)
                add_to_margins(margins, run)
            run.observations.clear()  # those of many seeds fill the memory
            bar.update()

        run_versions(versions, reference, assignment, keep, options.jobs)
    return Proof(
        assignment,
        verdicts=[verdict_of(fault, runs[f"fault {fault.id}"], assignment) for fault in faults],
        variants=variants,
        wrong=wrong,
        margins=margins,
        close=close,
        seeds=len(seeds),
        variant_seeds=len(further),
        cpu_seconds=sum(run.cpu_seconds for done in runs.values() for run in done),
        wall_seconds=time.perf_counter() - start,
        tests=options.tests,
    )


def with_seeds(
    name: str, sources: Sources, seeds: range, own: tuple[str, ...], every: tuple[str, ...]
) -> list[Version]:
    """A version with its own tests, by their markers; with every test for the first seed, where these are wanted."""
    if not every:
        return [Version(name, sources, seeds, own)]
    further = [Version(name, sources, seeds[1:], own)] if len(seeds) > 1 else []
    return [Version(name, sources, seeds[:1], every), *further]


def choose_faults(options: argparse.Namespace, assignment: Assignment) -> list[Fault]:
    """The faults that the options ask for.

    A sample has all conditional ones: the share of them that must be found is of the whole, and would fail by chance.
    """
    faults = read_catalogue(options.catalogue, assignment)
    faults += read_catalogue(options.catalogue, assignment, kind="conditional")
    wanted = options.component
    if wanted:
        faults = [f for f in faults if wanted in (f.component, f.component.split(".")[1], f.task)]
    faults = [fault for fault in faults if not options.fault or options.fault in fault.id]
    sampled = [fault for fault in faults if fault.severity != "conditional"][
        options.start % options.every :: options.every
    ]
    return [fault for fault in faults if fault.severity == "conditional" or fault in sampled]


def choose_variants(options: argparse.Namespace, reference: Sources, assignment: Assignment) -> list[Variant]:
    """The variants that the options ask for."""
    variants = read_variants(
        options.variants or assignment.folder / "proof" / "variants", reference, assignment.contract
    )
    if options.component:
        name = options.component.split(".")[-1]
        variants = [v for v in variants if any(component.split(".")[1] == name for component in v.components)]
    variants = [variant for variant in variants if not options.fault or options.fault in variant.name]
    return variants[options.start % options.every :: options.every]


def rejections(run: Run) -> list[str]:
    """The failures of correct code, in words."""
    return [
        f"seed {run.seed}, {outcome.test}: {outcome.state}: {outcome.message}"
        for outcomes in run.outcomes.values()
        for outcome in outcomes
        if outcome.state != "passed"
    ]


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
