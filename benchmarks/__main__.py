"""Measures how well the kit judges, and what the reference reaches."""

import sys

import torch

from reference.data import DataError
from validity.console import Commands, make_parser, run_one

from . import accessibility, rubric, trained

COMMANDS: Commands = {
    "mistakes": (trained.mistakes, "", ("pairs",)),
    "accessibility": (accessibility.measure, "'the site=build/site'", ("accessibility",)),
    "rubric": (rubric.measure, "", ()),
    "panel": (rubric.measure_panel, "", ()),
    "tables": (trained.tables, "--tables 3 --only small medium --seeds 3", ("tables", "pairs")),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one measurement, which prints a table; return the exit status."""
    torch.set_num_threads(1)
    parser = make_parser("benchmarks", __doc__, COMMANDS)
    return run_one(parser, arguments, {DataError: 2})


if __name__ == "__main__":
    sys.exit(main())
