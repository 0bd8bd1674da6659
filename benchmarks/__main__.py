"""Measures how fast the kit is, how well it judges, and what the reference reaches."""

import sys
from collections.abc import Mapping

import torch

from autograder.sandbox.errors import SandboxUnavailableError
from reference.data import DataError
from validity.console import Command, main_of, make_parser

from . import accessibility, grading, mistakes, rubric, speed, tables

COMMANDS: Mapping[str, tuple[Command, str]] = {
    "speed": (speed.measure, ""),
    "mistakes": (mistakes.measure, ""),
    "accessibility": (accessibility.measure, "'the site=build/site'"),
    "rubric": (rubric.measure, "--picture docs/pictures/rubric.png"),
    "panel": (rubric.measure_panel, ""),
    "ablations": (tables.measure_ablations, "--seeds 5"),
    "tables": (tables.measure, "--tables 3 --only small medium --seeds 3"),
    "grading": (grading.measure, "--count 30"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one measurement, which prints a table; return the exit status."""
    torch.set_num_threads(1)
    parser = make_parser("benchmarks", __doc__, COMMANDS)
    return main_of("benchmarks", parser, arguments, {DataError: 2, SandboxUnavailableError: 2})


if __name__ == "__main__":
    sys.exit(main())
