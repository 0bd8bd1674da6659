"""`python -m validity prove-diagnosis`: is a misconception recognised where the code is laid out otherwise?

Only the command line: what it does is in `proving`, which imports torch.
"""

import argparse
import sys
from pathlib import Path

from foundation.assignment_file import DEFAULT_PATH
from foundation.places import ROOT

LAYOUTS = ("fused", "per-head", "renamed")


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Adds `prove-diagnosis` to the autograder's commands."""
    prove = commands.add_parser(
        "prove-diagnosis",
        help="prove the diagnosis",
        description="Put every known fault into other layouts of the reference, grade each in the sandbox, and count "
        "how often the diagnosis names the fault, or the group that no test tells apart. Status 1 below 90%.",
        epilog="example: python -m validity prove-diagnosis --task 1.3 --layout fused",
    )
    prove.set_defaults(run=run, files=("output",))
    prove.add_argument("--task", action="append", help="only this one, by its number; may be repeated")
    prove.add_argument("--fault", default="", help="only faults whose id contains this text")
    prove.add_argument("--every", type=int, default=1, help="only every N-th fault (default: 1)")
    prove.add_argument("--layout", action="append", choices=LAYOUTS, help="default: all three; may be repeated")
    prove.add_argument("--seed", type=int, default=0, help="of the tests' inputs (default: 0)")
    prove.add_argument("--json", action="store_true", help="print the results instead of a table")
    prove.add_argument("--output", type=Path, help="write the table to this Markdown file")
    prove.add_argument("--reference", type=Path, default=ROOT / "reference", help="default: reference/")
    prove.add_argument("--assignment", type=Path, default=DEFAULT_PATH, help="default: the kit's own")


def run(options: argparse.Namespace) -> int:
    """Returns 0 where enough faults are recognised, 1 where not, 2 where there are none to try."""
    from autograder.diagnosis.catalogue import CatalogueError

    from .proving import prove

    if options.every < 1:
        print(f"prove-diagnosis: --every {options.every}: expected 1 or more", file=sys.stderr)
        return 2
    try:
        return prove(options)
    except (CatalogueError, OSError) as error:
        print(f"prove-diagnosis: {error}", file=sys.stderr)
        return 2
