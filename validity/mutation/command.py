"""`python -m validity mutate`: the command line of mutation testing. What it does is in `survivors`."""

import argparse
import json
import sys
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH
from foundation.command_line import Parser, positive
from foundation.places import REFERENCE
from foundation.whole_files import write_whole


def add_mutate(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Adds `mutate` to the commands."""
    mutate = commands.add_parser(
        "mutate",
        help="prove the component tests with mutants of the solutions",
        description="Run the component tests on small changes of the reference's solutions: each must fail a test of "
        "its task, or be listed as equivalent.",
        epilog="example: python -m validity mutate --task 1.2",
    )
    mutate.set_defaults(run=run)
    mutate.add_argument("--task", help="only mutants of this task's solutions, such as 1.3")
    mutate.add_argument("--operator", help="only mutants made by this operator, such as `arguments`")
    mutate.add_argument("--text", help="only mutants whose name contains this text")
    mutate.add_argument("--every", type=positive, default=1, help="only every N-th mutant (default: 1)")
    mutate.add_argument("--seed", type=int, default=0, help="seed for the tests' random inputs (default: 0)")
    mutate.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")
    mutate.add_argument("--json", action="store_true", help="print the results as JSON instead of text")
    mutate.add_argument("--output", type=Path, help="folder for the report's page (default: no page)")
    mutate.add_argument("--reference", type=Path, default=REFERENCE, help="default: reference/")
    mutate.add_argument("--equivalents", type=Path, help="default: autograder/assignment/proof/equivalents.toml")
    mutate.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: this repository's")


def run(options: argparse.Namespace) -> int:
    """Returns 0 where no mutant survives, 1 where one does, 2 where mutants cannot be made."""
    from .mutants import MutationError
    from .report import as_data, mutation_page, report_lines
    from .survivors import mutate

    try:
        mutation = mutate(options)
        if options.output is not None:
            write_whole(options.output / "mutation.md", mutation_page(mutation))
    except (MutationError, OSError) as error:
        print(f"mutate: {error}", file=sys.stderr)
        return 2
    print(json.dumps(as_data(mutation), indent=1) if options.json else "\n".join(report_lines(mutation)))
    return 0 if mutation.holds else 1
