"""`python -m autograder prove`: are all known faults found, blamed on the right part, and all variants accepted?

Only the command line: what it does is in `prove`, which imports torch.
"""

import argparse
import sys
from pathlib import Path

from ..assignment import DEFAULT_PATH

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
    from ..misconceptions.catalogue import CatalogueError
    from .bench import BenchError
    from .prove import prove
    from .variants import VariantError

    try:
        return prove(options)
    except (CatalogueError, VariantError, OSError) as error:
        print(f"prove: {error}", file=sys.stderr)
        return 2
    except BenchError as error:
        print(f"prove: {error}", file=sys.stderr)
        return 1
