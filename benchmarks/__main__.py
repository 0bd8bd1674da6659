"""Measures how well the kit judges, and what the reference reaches."""

import sys

import torch

from foundation.command_line import Commands
from reference.data import DataError
from validity.console import run_one

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
    return run_one("benchmarks", __doc__, COMMANDS, arguments, {DataError: 2})


if __name__ == "__main__":
    sys.exit(main())
