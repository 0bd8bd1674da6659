"""`python -m validity prove`: the command line of the proof. What it does is in `prove`, which imports torch."""

import argparse
import json
import sys
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH
from foundation.command_line import Parser, positive
from foundation.places import REFERENCE


def add_prove(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Adds `prove` to the commands."""
    prove = commands.add_parser(
        "prove",
        help="prove the component tests",
        description="Run the component tests on every known fault (each must fail, and only the tasks of its "
        "component may lose points) and on every correct variant (each must pass).",
        epilog="example: python -m validity prove --component layers.LayerNorm",
    )
    prove.set_defaults(run=run)
    prove.add_argument("--component", help="only this component: module.Name, Name, or the number of a task")
    prove.add_argument("--fault", help="only faults (and variants) whose id contains this text")
    prove.add_argument("--only", choices=("faults", "variants"), help="default: both")
    prove.add_argument("--seeds", type=positive, default=1, help="seeds per fault and variant (default: 1)")
    prove.add_argument("--variant-seeds", type=positive, help="seeds per variant (default: as --seeds)")
    prove.add_argument("--first-seed", type=int, default=0, help="default: 0")
    prove.add_argument(
        "--tests",
        choices=("own", "all"),
        default="own",
        help="run on a fault those of its own task (and all on one in ten), or all",
    )
    prove.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")
    prove.add_argument("--json", action="store_true", help="print the results as JSON instead of tables")
    prove.add_argument("--verbose", action="store_true", help="show every fault, not only those that escape")
    prove.add_argument("--sandboxed", action="store_true", help="run in the grading sandbox, as grading does (slower)")
    prove.add_argument("--output", type=Path, help="folder for the report's pages (default: no pages)")
    prove.add_argument("--reference", type=Path, default=REFERENCE, help="default: reference/")
    prove.add_argument("--catalogue", type=Path, help="folder of faults (default: the assignment's)")
    prove.add_argument("--variants", type=Path, help="default: the assignment's")
    prove.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: this repository's")


def run(options: argparse.Namespace) -> int:
    """Returns 0 where the proof holds, 1 where it does not, 2 where catalogue or variants cannot be used."""
    from autograder.diagnosis.catalogue import CatalogueError

    from .prove import run_proof
    from .reading_variants import VariantError
    from .report import as_data, as_text, write_pages

    try:
        proof = run_proof(options)
        if options.output is not None:
            write_pages(proof, options.output)
    except (CatalogueError, VariantError, OSError) as error:
        print(f"prove: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(as_data(proof), indent=1))
    else:
        print(as_text(proof, show_all=bool(options.verbose or options.component or options.fault)))
    return 0 if proof.holds else 1
