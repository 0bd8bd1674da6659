"""`python -m autograder prove`: are all known faults found, blamed on the right part, and all variants accepted?"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..assignment import DEFAULT_PATH, Assignment, read_assignment
from ..in_process import read_sources
from ..misconceptions.catalogue import CatalogueError, Fault, apply, read_catalogue
from .variants import Variant, VariantError, read_variants

ROOT = Path(__file__).resolve().parents[2]


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Adds `prove` to the autograder's commands."""
    prove = commands.add_parser(
        "prove",
        help="prove the component tests",
        description="Run the component tests on every known fault (each must fail, and only the tasks of its "
        "component may lose points) and on every correct variant (each must pass).",
        epilog="example: python -m autograder prove --component layers.LayerNorm",
    )
    prove.set_defaults(run=run_prove)
    prove.add_argument("--component", help="only this one: module.Name, Name, or the number of a task")
    prove.add_argument("--fault", help="only faults (and variants) whose id contains this text")
    prove.add_argument("--only", choices=("faults", "variants"), help="default: both")
    prove.add_argument("--seeds", type=int, default=1, help="seeds for each fault and variant (default: 1)")
    prove.add_argument("--first-seed", type=int, default=0, help="default: 0")
    prove.add_argument("--jobs", type=int, default=1, help="processes at a time (default: 1)")
    prove.add_argument("--json", action="store_true", help="print the results instead of tables")
    prove.add_argument("--verbose", action="store_true", help="show every fault, not only those that escape")
    prove.add_argument("--sandboxed", action="store_true", help="run in the grading sandbox, as grading does (slower)")
    prove.add_argument("--output", type=Path, default=ROOT / "dist" / "proof", help="default: dist/proof/")
    prove.add_argument("--reference", type=Path, default=ROOT / "reference", help="default: reference/")
    folder = ROOT / "tests" / "autograder" / "variants"
    prove.add_argument("--variants", type=Path, default=folder, help="default: tests/autograder/variants/")
    prove.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: autograder/assignment.toml")


def run_prove(options: argparse.Namespace) -> int:
    """Returns 0 where the proof holds, 1 where it does not, 2 where catalogue or variants cannot be used."""
    from .bench import BenchError

    try:
        return prove(options)
    except (CatalogueError, VariantError, OSError) as error:
        print(f"prove: {error}", file=sys.stderr)
        return 2
    except BenchError as error:
        print(f"prove: {error}", file=sys.stderr)
        return 1


def prove(options: argparse.Namespace) -> int:
    """Runs all, prints and writes the report."""
    from . import tables, tolerances
    from .bench import Run, Version, run_versions
    from .picture import draw_matrix
    from .verdicts import blame_shares, judge_fault

    assignment = read_assignment(options.assignment)
    reference = read_sources(options.reference, options.reference)
    faults = [] if options.only == "variants" else choose_faults(options, assignment)
    patched = {fault.id: apply(fault, reference) for fault in faults}
    variants = [] if options.only == "faults" else choose_variants(options, reference)
    if not faults and not variants:
        raise CatalogueError("nothing fits --component and --fault")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    versions = [Version("", reference, seeds)]
    versions += [Version(f"fault {fault.id}", patched[fault.id], seeds) for fault in faults]
    for variant in variants:  # all tests with one seed, those of its own components with all
        versions.append(Version(f"variant {variant.name}", variant.sources, seeds[:1]))
        if len(seeds) > 1:
            markers = variant.markers(assignment)
            versions.append(Version(f"variant {variant.name}", variant.sources, seeds[1:], markers))
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


def progress_bar(total: int):
    """A bar on a terminal, nothing elsewhere."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # no thread: this process forks
    return tqdm(total=total, desc="prove", unit="run", disable=None, leave=False)


def write(path: Path, text: str) -> None:
    """All or nothing."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
