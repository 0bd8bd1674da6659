"""`python -m validity prove-diagnosis`: its command line. What it does is in `recognition`, which imports torch."""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH, read_assignment
from foundation.command_line import Parser, positive
from foundation.places import REFERENCE
from foundation.whole_files import write_whole


def add_prove_diagnosis(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Adds `prove-diagnosis` to the commands."""
    prove = commands.add_parser(
        "prove-diagnosis",
        help="prove the diagnosis",
        description="Put every known fault into other layouts of the reference, grade each in the sandbox, and count "
        "how often the diagnosis names the fault, or the group that no test tells apart. Status 1 below 90%.",
        epilog="example: python -m validity prove-diagnosis --task 1.3 --layout fused",
    )
    prove.set_defaults(run=run, files=("output",))
    prove.add_argument("--task", action="append", help="only this task, by its number; may be repeated")
    prove.add_argument("--fault", default="", help="only faults whose id contains this text")
    prove.add_argument("--every", type=positive, default=1, help="only every N-th fault (default: 1)")
    prove.add_argument("--layout", action="append", help="only this layout; may be repeated (default: all)")
    prove.add_argument("--seed", type=int, default=0, help="seed for the tests' random inputs (default: 0)")
    prove.add_argument("--json", action="store_true", help="print the results as JSON instead of a table")
    prove.add_argument("--output", type=Path, help="write the table to this Markdown file")
    prove.add_argument("--reference", type=Path, default=REFERENCE, help="default: reference/")
    prove.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: this repository's")


def run(options: argparse.Namespace) -> int:
    """Returns 0 where enough faults are recognised, 1 where not or where a diagnosis breaks, 2 for bad input."""
    from autograder.diagnosis.catalogue import CatalogueError
    from autograder.sandbox.containment.zygote import Zygote

    from ..run_tests import progress_bar
    from .recognition import ENOUGH, Row, choose_faults, choose_layouts, recognise, share
    from .report import as_markdown, as_text

    rows: list[Row] = []
    try:
        assignment = read_assignment(options.assignment)
        faults, layouts = choose_faults(options, assignment), choose_layouts(options, assignment)
        with progress_bar(len(faults) * len(layouts), "prove-diagnosis") as bar, Zygote(assignment) as zygote:

            def keep(row: Row) -> None:
                rows.append(row)
                bar.update()

            recognise(faults, layouts, assignment, options.reference, keep, zygote, options.seed)
        if options.output:
            write_whole(options.output, as_markdown(rows))
    except (CatalogueError, OSError) as error:
        print(f"prove-diagnosis: {error}", file=sys.stderr)
        return 2
    print(json.dumps([asdict(row) for row in rows], indent=1) if options.json else as_text(rows))
    return 0 if share(rows) >= ENOUGH and not any(row.problems for row in rows) else 1
