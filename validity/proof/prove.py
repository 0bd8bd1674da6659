"""The proof: runs all faults and variants, prints tables and writes the pages."""

import argparse
import json
import time
from collections.abc import Sequence

from autograder.diagnosis.catalogue import CatalogueError, Fault, apply, read_catalogue
from autograder.testing.in_process import read_sources
from foundation.assignment_file import Assignment, read_assignment
from foundation.places import MISCONCEPTIONS
from foundation.whole_files import write_whole

from . import pages, tables
from .bench import Run, Sources, Version, run_versions
from .picture import draw_matrix
from .results import Proof
from .tolerances import APART, Margins
from .variants import Variant, read_variants
from .verdicts import blame_shares, judge_fault


def prove(options: argparse.Namespace) -> int:
    """Runs all, prints and writes the report; returns the exit status."""
    proof = run_proof(options)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        if proof.verdicts:
            draw_matrix(*blame_shares(proof.verdicts, proof.assignment), options.output / pages.PICTURE)
            write_whole(options.output / "faults.md", pages.faults_page(proof.verdicts))
        write_whole(options.output / "README.md", pages.proof_page(proof))
    if options.json:
        print(json.dumps(as_data(proof), indent=1))
    else:
        print("\n".join(report_lines(proof, show_all=bool(options.verbose or options.component or options.fault))))
    return 0 if proof.holds else 1


def run_proof(options: argparse.Namespace) -> Proof:
    """Runs all that the options ask for.

    Raises:
        CatalogueError, VariantError: naming what cannot be used.
        BenchError: where the tests cannot be run.
    """
    assignment = read_assignment(options.assignment)
    reference = read_sources(options.reference, options.reference)
    faults = [] if options.only == "variants" else choose_faults(options, assignment)
    variants = [] if options.only == "faults" else choose_variants(options, reference)
    if not faults and not variants:
        raise CatalogueError("nothing fits --component and --fault")
    variant_seeds = options.variant_seeds or options.seeds
    seeds, further = (range(options.first_seed, options.first_seed + n) for n in (options.seeds, variant_seeds))
    markers = {task.number: (task.marker,) for task in assignment.tasks}
    versions = [Version("reference", reference, further)]
    for fault in faults:
        versions += all_tests_once(f"fault {fault.id}", apply(fault, reference), seeds, markers[fault.task])
    for variant in variants:
        only = seeds[:1] if variant.is_same_code else further
        versions += all_tests_once(f"variant {variant.name}", variant.sources, only, variant.markers(assignment))
    runs: dict[str, list[Run]] = {version.name: [] for version in versions}
    margins = Margins()
    start = time.perf_counter()
    with pages.progress_bar(sum(len(version.seeds) for version in versions), "prove") as bar:

        def keep(run: Run) -> None:
            runs[run.version].append(run)
            (margins.add_faulty if run.version.startswith("fault ") else margins.add_correct)(run)
            run.observations.clear()  # of many seeds they fill the memory
            bar.update()

        run_versions(versions, reference, keep, options.jobs, options.sandboxed)
    return Proof(
        assignment,
        verdicts=[judge_fault(fault, runs[f"fault {fault.id}"], assignment) for fault in faults],
        variants=variants,
        rejected={
            name.removeprefix("variant "): rejections(done)
            for name, done in runs.items()
            if not name.startswith("fault ")
        },
        margins=margins.all(),
        close=margins.close,
        seeds=len(seeds),
        variant_seeds=len(further),
        cpu_seconds=sum(run.cpu_seconds for done in runs.values() for run in done),
        wall_seconds=time.perf_counter() - start,
    )


def all_tests_once(name: str, sources: Sources, seeds: range, markers: tuple[str, ...]) -> list[Version]:
    """All tests with the first seed, and those of its own tasks with all others."""
    versions = [Version(name, sources, seeds[:1])]
    return versions + ([Version(name, sources, seeds[1:], markers)] if len(seeds) > 1 else [])


def choose_faults(options: argparse.Namespace, assignment: Assignment) -> list[Fault]:
    """Those that the options ask for."""
    faults = read_catalogue(options.catalogue or MISCONCEPTIONS, assignment)
    wanted = options.component
    if wanted:
        faults = [f for f in faults if wanted in (f.component, f.component.split(".")[1], f.task)]
    return [fault for fault in faults if not options.fault or options.fault in fault.id]


def choose_variants(options: argparse.Namespace, reference: Sources) -> list[Variant]:
    """Those that the options ask for."""
    variants = read_variants(options.variants, reference)
    if options.component:
        name = options.component.split(".")[-1]
        variants = [v for v in variants if any(component.split(".")[1] == name for component in v.components)]
    return [variant for variant in variants if not options.fault or options.fault in variant.name]


def rejections(runs: Sequence[Run]) -> list[str]:
    """What tests wrongly said to correct code."""
    return [
        f"seed {run.seed}, {outcome.test}: {outcome.state}: {outcome.message}"
        for run in runs
        for outcomes in run.outcomes.values()
        for outcome in outcomes
        if outcome.state != "passed"
    ]


def report_lines(proof: Proof, show_all: bool) -> list[str]:
    """For the terminal; `show_all` lists faults that were found, too."""
    lines: list[str] = []
    if proof.verdicts:
        shown = proof.verdicts if show_all else proof.bad
        lines += tables.fault_lines(shown, proof.assignment) + ([""] if shown else [])
        lines += [*tables.matrix_lines(proof.verdicts, proof.assignment), ""]
        lines += [*tables.summary_lines(proof.verdicts, proof.assignment), f"seeds: {proof.seeds}", ""]
    for name, messages in proof.wrong.items():
        lines.append(f"REJECTED {name} ({len(messages)} times): {messages[0]}")
    if proof.variants:
        lines.append(
            f"variants: {len(proof.variants)}, wrongly rejected: {len(proof.wrong)}, seeds: {proof.variant_seeds}"
        )
    for margin in proof.narrow:
        lines.append(f"NARROW {margin.test}: correct code {margin.correct:.1e}, tolerance {margin.tolerance:.0e}")
    lines += [f"CLOSE {name}: found by less than a factor {APART}" for name in proof.close]
    return [*lines, f"CPU {proof.cpu_seconds:.0f} s, wall {proof.wall_seconds:.0f} s"]


def as_data(proof: Proof) -> dict:
    """For programs."""
    return {
        "holds": proof.holds,
        "seeds": proof.seeds,
        "variant_seeds": proof.variant_seeds,
        **tables.as_data(proof.verdicts, proof.assignment),
        "variants": {
            variant.name: {"what": variant.what, "rejections": proof.rejected[variant.name]}
            for variant in proof.variants
        },
        "rejected": proof.wrong,
        "margins": [{**vars(margin), "is_wide": margin.is_wide} for margin in proof.margins],
        "close": proof.close,
        "cpu_seconds": round(proof.cpu_seconds, 1),
        "wall_seconds": round(proof.wall_seconds, 1),
    }
