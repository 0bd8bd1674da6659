"""Proves the component tests: every known fault costs points in its own task alone, every correct variant passes.

Each gets the tests of the tasks that judge its components, with every seed. `--tests all` gives it all tests with the
first seed, so that wrong blame shows anywhere.

A verdict says whether a fault is found, and who is blamed for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.course.catalogue import Fault, apply, read_catalogue
from autograder.intake.sources import Sources, read_sources
from autograder.testing.results import State, tests_of
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError

from .report import as_text, write_pages
from .run_tests import Run, Version, finds_fault, markers_of_tasks, run_versions
from .variants import Variant, read_variants

ENOUGH = 0.85
"""Of the faults that show only under a condition, so many must be found; of all others, all."""


def prove(
    component: str | None,
    fault: str,
    only: str | None,
    every: int,
    start: int,
    seeds: int,
    variant_seeds: int | None,
    tests: str,
    jobs: int,
    output: Path | None,
    catalogue: Path | None,
    variants: Path | None,
    reference: Path,
    assignment: Path,
) -> int:
    """Runs whatever the options ask for, prints the report, and writes the pages; 0 where the proof holds, 1 otherwise.

    Raises:
        UserError: naming the fault that cannot be used.
        VariantError: naming the variant that cannot be used.
        CollectionError: where the tests cannot be collected.
    """
    whole = read_assignment(assignment)
    # Answers to questions about the reference's own code are wrong for any other.
    judged = replace(whole, tasks=tuple(task for task in whole.tasks if not task.is_answered))
    sources = read_sources(reference, reference)
    faults: list[Fault] = []
    correct: list[Variant] = []
    if only != "variants":
        faults = choose_faults(judged, catalogue, component, fault, every, start)
    if only != "faults":
        known = read_variants(variants or judged.folder / "proof" / "variants", sources, judged.contract)
        correct = choose_variants(known, component, fault, every, start)
    if not faults and not correct:
        raise UserError("nothing matches --component and --fault")
    proof = Proof(judged, [], correct, seeds, variant_seeds or seeds, tests)
    run_proof(proof, sources, faults, jobs)
    if output is not None:
        write_pages(proof, output)
    print(as_text(proof, show_all=bool(component or fault)))
    return 0 if proof.holds else 1


@dataclass
class Proof:
    """What was found.

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
    def conditional_share(self) -> float:
        """The share of the faults under a condition that are found; 1 where there are none."""
        conditional = [one.is_killed for one in self.verdicts if one.fault.severity == "conditional"]
        return sum(conditional) / len(conditional) if conditional else 1.0

    @property
    def holds(self) -> bool:
        """Whether every fault is found and blamed rightly, and correct code passes."""
        return self.conditional_share >= ENOUGH and not (self.bad or self.wrong)


def run_proof(proof: Proof, reference: Sources, faults: list[Fault], jobs: int) -> None:
    """Runs the tests on these faults and on the proof's variants, and adds what they find."""
    assignment = proof.assignment
    versions = [Version("reference", reference, range(proof.variant_seeds))]

    def add(name: str, sources: Sources, components: Iterable[str], seeds: range) -> None:
        if proof.tests == "all":
            versions.append(Version(name, sources, seeds[:1], tuple(task.marker for task in assignment.tasks)))
            seeds = seeds[1:]
        if seeds:
            versions.append(Version(name, sources, seeds, markers_of_tasks(assignment, components)))

    for fault in faults:
        add(f"fault {fault.id}", apply(fault, reference), [fault.component], range(proof.seeds))
    for variant in proof.variants:
        seeds = range(1 if variant.is_same_code else proof.variant_seeds)
        add(f"variant {variant.name}", variant.sources, variant.components, seeds)
    runs: dict[str, list[Run]] = {}
    for run in run_versions(versions, reference, assignment, jobs, "prove"):
        runs.setdefault(run.version, []).append(run)
        if not run.version.startswith("fault ") and (rejected := rejections(run)):
            proof.wrong.setdefault(run.version.removeprefix("variant "), []).extend(rejected)
    proof.verdicts = [verdict_of(fault, runs[f"fault {fault.id}"], assignment) for fault in faults]


def choose_faults(
    assignment: Assignment,
    catalogue: Path | None = None,
    component: str | None = None,
    text: str = "",
    every: int = 1,
    start: int = 0,
) -> list[Fault]:
    """The faults of a component, or of a task's number, whose id has this text; of these a sample.

    A sample has all conditional ones: the share of them that must be found is of the whole, and would fail by chance.
    """
    faults = read_catalogue(catalogue, assignment)
    faults += read_catalogue(catalogue, assignment, kind="conditional")
    names = [(f, (f.component, f.component.split(".")[1], f.task)) for f in faults]
    faults = [fault for fault, known in names if component in (None, *known) and text in fault.id]
    sampled = [fault for fault in faults if fault.severity != "conditional"][start % every :: every]
    return [fault for fault in faults if fault.severity == "conditional" or fault in sampled]


def choose_variants(variants: list[Variant], component: str | None, text: str, every: int, start: int) -> list[Variant]:
    """The variants of a component whose name has this text; of these a sample."""
    if component:
        name = component.split(".")[-1]
        variants = [v for v in variants if any(one.split(".")[1] == name for one in v.components)]
    return [variant for variant in variants if text in variant.name][start % every :: every]


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
        """Whether it is found with every seed."""
        return not self.missed_seeds

    @property
    def is_good(self) -> bool:
        """Whether it is found with the same mark (unless it shows only under a condition), and nothing else fails."""
        is_found = self.is_killed and len(self.scores) == 1
        is_blameless = not self.wrongly_blamed and not self.grader_errors
        return is_blameless and (is_found or self.fault.severity == "conditional")


def verdict_of(fault: Fault, runs: Iterable[Run], assignment: Assignment) -> Verdict:
    """The verdict over all seeds."""
    verdict = Verdict(fault)
    counts: dict[str, int] = {}
    missed: set[str] = set()
    for run in runs:
        ran = {result.task.number: result for result in tests_of(assignment, run.outcomes)}
        results = {number: result for number, result in ran.items() if result.outcomes}
        verdict.scores.add(round(results[fault.task].score, 2))
        missed |= {mark.name for mark in results[fault.task].items if mark.missed}
        verdict.items = [mark.name for mark in results[fault.task].items if mark.name in missed]
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
    judging = {task.number for task in assignment.tasks if fault.component in task.components}
    may_blame = {fault.task} if fault.task.startswith("E") else judging
    verdict.wrongly_blamed = [number for number in verdict.lost if number not in may_blame]
    return verdict
