"""`python -m validity prove` and `mutate`: the command lines of the proof of the component tests.

What they do is in `prove` and `mutate`, which import torch.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH
from foundation.places import ROOT, VARIANTS


def add_parsers(commands: argparse._SubParsersAction) -> None:
    """Adds both to the autograder's commands."""
    add_prove(commands)
    add_mutate(commands)


def add_prove(commands: argparse._SubParsersAction) -> None:
    """Adds `prove`."""
    prove = commands.add_parser(
        "prove",
        help="prove the component tests",
        description="Run the component tests on every known fault (each must fail, and only the tasks of its "
        "component may lose points) and on every correct variant (each must pass).",
        epilog="example: python -m validity prove --component layers.LayerNorm",
    )
    prove.set_defaults(run=run_prove)
    prove.add_argument("--component", help="only this one: module.Name, Name, or the number of a task")
    prove.add_argument("--fault", help="only faults (and variants) whose id contains this text")
    prove.add_argument("--only", choices=("faults", "variants"), help="default: both")
    prove.add_argument("--seeds", type=positive, default=1, help="seeds for each fault and variant (default: 1)")
    prove.add_argument("--variant-seeds", type=positive, help="seeds for each variant (default: as --seeds)")
    prove.add_argument("--first-seed", type=int, default=0, help="default: 0")
    prove.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")
    prove.add_argument("--json", action="store_true", help="print the results instead of tables")
    prove.add_argument("--verbose", action="store_true", help="show every fault, not only those that escape")
    prove.add_argument("--sandboxed", action="store_true", help="run in the grading sandbox, as grading does (slower)")
    prove.add_argument("--output", type=Path, help="folder for the report as pages (default: none is written)")
    prove.add_argument("--reference", type=Path, default=ROOT / "reference", help="default: reference/")
    prove.add_argument("--catalogue", type=Path, help="folder of faults (default: the assignment.s)")
    prove.add_argument("--variants", type=Path, default=VARIANTS, help="default: the assignment's")
    prove.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: the kit's own")


def add_mutate(commands: argparse._SubParsersAction) -> None:
    """Adds `mutate`."""
    mutate = commands.add_parser(
        "mutate",
        help="prove the component tests with mutants of the solutions",
        description="Run the component tests on small changes of the reference's solutions: each must fail a test of "
        "its task, or be listed as equivalent.",
        epilog="example: python -m validity mutate --task 1.2",
    )
    mutate.set_defaults(run=run_mutate)
    mutate.add_argument("--task", help="only mutants of this task's solutions, such as 1.3")
    mutate.add_argument("--operator", help="only mutants of this operator, such as `arguments`")
    mutate.add_argument("--text", help="only mutants whose name contains this text")
    mutate.add_argument("--every", type=positive, default=1, help="only each n-th mutant (default: 1)")
    mutate.add_argument("--seed", type=int, default=0, help="of the tests' inputs (default: 0)")
    mutate.add_argument("--jobs", type=positive, default=1, help="processes at a time (default: 1)")
    mutate.add_argument("--json", action="store_true", help="print the results instead of text")
    mutate.add_argument("--output", type=Path, help="folder for the report as a page (default: none is written)")
    mutate.add_argument("--reference", type=Path, default=ROOT / "reference", help="default: reference/")
    mutate.add_argument("--equivalents", type=Path, help="default: autograder/assignment/equivalents.toml")
    mutate.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: the kit's own")


def run_prove(options: argparse.Namespace) -> int:
    """Returns 0 where the proof holds, 1 where it does not, 2 where catalogue or variants cannot be used."""
    from .prove import prove

    return _exit_status(prove, options)


def run_mutate(options: argparse.Namespace) -> int:
    """Returns 0 where no mutant survives, 1 where one does, 2 where mutants cannot be made."""
    from ..mutation.mutate import mutate

    return _exit_status(mutate, options)


def _exit_status(work: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    from autograder.diagnosis.catalogue import CatalogueError

    from ..mutation.mutants import MutationError
    from .bench import BenchError
    from .variants import VariantError

    try:
        return work(options)
    except (CatalogueError, VariantError, MutationError, OSError) as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 2
    except BenchError as error:
        print(f"autograder: {error}", file=sys.stderr)
        return 1


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a whole number of at least 1")
    return int(text)
