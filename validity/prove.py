"""Proof of the component tests: every known fault costs points in its own task alone, every correct variant passes.

Each gets the tests of the tasks that judge its components, with every seed. `--tests all` gives it all tests with the
first seed, so that wrong blame shows anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from autograder.course.catalogue import Fault, apply
from autograder.intake.sources import Sources, read_sources
from autograder.testing.results import State, tests_of
from foundation.assignment_file import Assignment, read_assignment
from foundation.command_line import UserError, positive

from .console import HERE, AssignmentPlace, Component, Jobs, Pages, ReferenceFolder, Start, option
from .report import TESTS, Proof, Verdict, as_text, write_pages
from .run_tests import Run, Version, finds_fault, markers_of_tasks, run_versions
from .variants import Variant, choose_faults, choose_variants, read_variants

Sample = Annotated[int, option("only every N-th fault and variant, but all faults under a condition", type=positive)]
Seeds = Annotated[int, option("seeds per fault and variant", type=positive)]
VariantSeeds = Annotated[int | None, option("seeds per variant (default: as --seeds)", type=positive)]
IdText = Annotated[str, option("only faults (and variants) whose id contains this text")]
Only = Annotated[str | None, option("default: both", choices=("faults", "variants"))]
Tests = Annotated[str, option("run the tests of a version's components, or with the first seed all", choices=TESTS)]
Catalogue = Annotated[Path | None, option("folder of faults (default: the assignment's)", type=Path)]
VariantFolder = Annotated[Path | None, option("default: the assignment's", type=Path)]


def prove(
    component: Component = None,
    fault: IdText = "",
    only: Only = None,
    every: Sample = 1,
    start: Start = 0,
    seeds: Seeds = 1,
    variant_seeds: VariantSeeds = None,
    tests: Tests = "own",
    jobs: Jobs = 1,
    output: Pages = None,
    catalogue: Catalogue = None,
    variants: VariantFolder = None,
    reference: ReferenceFolder = HERE[0],
    assignment: AssignmentPlace = HERE[1],
) -> int:
    """Prove the component tests.

    Run them on known faults (each must fail, and only the tasks of its component may lose points) and on correct
    variants (each must pass).
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


def run_proof(proof: Proof, reference: Sources, faults: Sequence[Fault], jobs: int) -> None:
    """Run the tests on these faults and on the proof's variants, and add the verdicts."""
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


def rejections(run: Run) -> list[str]:
    """The failures of correct code, in words."""
    outcomes = [outcome for of_task in run.outcomes.values() for outcome in of_task if outcome.state != "passed"]
    return [f"seed {run.seed}, {outcome.test}: {outcome.state}: {outcome.message}" for outcome in outcomes]


def verdict_of(fault: Fault, runs: Iterable[Run], assignment: Assignment) -> Verdict:
    """The verdict over all seeds."""
    verdict, killers, missed = Verdict(fault), Counter[str](), set[str]()
    for run in runs:
        results = {result.task.number: result for result in tests_of(assignment, run.outcomes) if result.outcomes}
        own = results[fault.task]
        verdict.scores.add(round(own.score, 2))
        missed |= {mark.name for mark in own.items if mark.missed}
        verdict.items = [mark.name for mark in own.items if mark.name in missed]
        if not finds_fault(own.outcomes):
            verdict.missed_seeds.append(run.seed)
        for number, result in results.items():
            if finds_fault(result.outcomes):
                lost = round(result.task.points - result.score, 2)
                verdict.lost[number] = max(lost, verdict.lost.get(number, 0.0))
            broken = [outcome for outcome in result.outcomes if outcome.state == State.GRADER_ERROR]
            verdict.grader_errors += [f"{outcome.test}: {outcome.message}" for outcome in broken]
        killers.update(o.test for o in own.outcomes if o.state not in (State.PASSED, State.GRADER_ERROR))
    verdict.killers = [test for test, _ in killers.most_common()]
    judging = {task.number for task in assignment.tasks if fault.component in task.components}
    may_blame = {fault.task} if fault.task.startswith("E") else judging
    verdict.wrongly_blamed = [number for number in verdict.lost if number not in may_blame]
    return verdict
