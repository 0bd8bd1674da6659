"""The proof: runs all versions, prints tables and writes the report."""

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from ..assignment import Assignment, read_assignment
from ..in_process import read_sources
from ..misconceptions.catalogue import CatalogueError, Fault, apply, read_catalogue
from . import tables, tolerances
from .bench import Run, Sources, Version, run_versions
from .picture import draw_matrix
from .variants import Variant, read_variants
from .verdicts import blame_shares, judge_fault


def prove(options: argparse.Namespace) -> int:
    """Runs all, prints and writes the report."""
    assignment = read_assignment(options.assignment)
    reference = read_sources(options.reference, options.reference)
    faults = [] if options.only == "variants" else choose_faults(options, assignment)
    patched = {fault.id: apply(fault, reference) for fault in faults}
    variants = [] if options.only == "faults" else choose_variants(options, reference)
    if not faults and not variants:
        raise CatalogueError("nothing fits --component and --fault")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    judges = {task.number: task for task in assignment.tasks}
    versions = [Version("", reference, seeds)]
    for fault in faults:
        name, markers = f"fault {fault.id}", (judges[fault.task].marker,)
        versions += all_tests_once(name, patched[fault.id], seeds, markers)
    for variant in variants:
        versions += all_tests_once(f"variant {variant.name}", variant.sources, seeds, variant.markers(assignment))
    runs: dict[str, list[Run]] = {version.name: [] for version in versions}
    total = sum(len(version.seeds) for version in versions)
    start = time.perf_counter()
    with progress_bar(total) as bar:

        def keep(run: Run) -> None:
            runs[run.version].append(run)
            bar.update()

        run_versions(versions, reference, keep, options.jobs, options.sandboxed)
    verdicts = [judge_fault(fault, runs[f"fault {fault.id}"], assignment) for fault in faults]
    rejected = {variant.name: rejections(runs[f"variant {variant.name}"]) for variant in variants}
    rejected |= {"reference": rejections(runs[""])}
    margins = tolerances.Margins()
    for name, done in runs.items():
        (margins.add_faulty if name.startswith("fault") else margins.add_correct)(done)
    bad = [verdict for verdict in verdicts if not verdict.is_good(assignment)]
    wrong = {name: messages for name, messages in rejected.items() if messages}
    narrow = [margin for margin in margins.all() if not margin.is_wide]

    data = {
        "seeds": list(seeds),
        **tables.as_data(verdicts, assignment),
        "variants": {
            variant.name: {"what": variant.what, "rejections": rejected[variant.name]} for variant in variants
        },
        "margins": [vars(margin) for margin in margins.all()],
        "wall_seconds": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(sum(run.cpu_seconds for done in runs.values() for run in done), 1),
    }
    options.output.mkdir(parents=True, exist_ok=True)
    write(options.output / "proof.json", json.dumps(data, indent=1) + "\n")
    if faults:
        draw_matrix(*blame_shares(verdicts, assignment), options.output / "confusion.png")
        write(options.output / "faults.md", tables.as_markdown(verdicts, assignment, "confusion.png"))
    write(options.output / "tolerances.md", tolerances.as_markdown(margins.all()))
    if options.json:
        print(json.dumps(data, indent=1))
    else:
        lines: list[str] = []
        if faults:
            shown = verdicts if options.verbose or options.component or options.fault else bad
            lines += tables.fault_lines(shown, assignment) + ([""] if shown else [])
            lines += [*tables.matrix_lines(verdicts, assignment), "", *tables.summary_lines(verdicts, assignment), ""]
        for name, messages in wrong.items():
            lines += [f"REJECTED {name} ({len(messages)} times): {messages[0]}"]
        if variants:
            lines += [f"variants: {len(variants)}, wrongly rejected: {len(wrong)}, seeds: {len(seeds)}"]
        if narrow and faults and variants:
            lines += [
                f"NARROW {m.test}: correct {m.correct:.1e}, tolerance {m.tolerance:.0e}, fault {m.fault}"
                for m in narrow
            ]
        lines += [f"CPU {data['cpu_seconds']} s, wall {data['wall_seconds']} s; report: {options.output}"]
        print("\n".join(lines))
    return 1 if bad or wrong else 0


def all_tests_once(name: str, sources: Sources, seeds: range, markers: tuple[str, ...]) -> list[Version]:
    """All tests with the first seed, and those of its own components with all others."""
    versions = [Version(name, sources, seeds[:1])]
    return versions + ([Version(name, sources, seeds[1:], markers)] if len(seeds) > 1 else [])


def choose_faults(options: argparse.Namespace, assignment: Assignment) -> list[Fault]:
    """Those that the options ask for."""
    faults = read_catalogue(assignment=assignment)
    wanted = options.component
    if wanted:
        faults = [f for f in faults if wanted in (f.component, f.component.split(".")[1], f.task)]
    return [fault for fault in faults if not options.fault or options.fault in fault.id]


def choose_variants(options: argparse.Namespace, reference: dict) -> list[Variant]:
    """Those that the options ask for."""
    variants = read_variants(options.variants, reference)
    if options.component:
        name = options.component.split(".")[-1]
        variants = [v for v in variants if any(component.split(".")[1] == name for component in v.components)]
    return [variant for variant in variants if not options.fault or options.fault in variant.name]


def rejections(runs: Sequence) -> list[str]:
    """What tests wrongly said to correct code."""
    return [
        f"seed {run.seed}, {outcome.test}: {outcome.state}: {outcome.message}"
        for run in runs
        for outcomes in run.outcomes.values()
        for outcome in outcomes
        if outcome.state != "passed"
    ]


def progress_bar(total: int) -> tqdm:
    """A bar on a terminal, nothing elsewhere."""
    tqdm.monitor_interval = 0  # no thread: this process forks
    return tqdm(total=total, desc="prove", unit="run", disable=None, leave=False)


def write(path: Path, text: str) -> None:
    """All or nothing."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
