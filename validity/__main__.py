"""Proves that component tests, diagnosis and thresholds are correct."""

import sys

from autograder.sandbox.errors import SandboxUnavailableError
from autograder.testing.results import CollectionError
from foundation.command_line import Commands

from . import calibration, hints, mutate, outside, prove, same
from .console import run_one

COMMANDS: Commands = {
    "prove": (prove.prove, "--component layers.LayerNorm", ("component", "prove", "sample", "pages")),
    "mutate": (mutate.mutate, "--task 1.2", ("mutate", "sample", "pages")),
    "same": (same.compare, "--every 20", ("component", "same", "sample")),
    "hints": (hints.measure, "--jobs 2", ("hints",)),
    "outside": (outside.outside, "clones --fetch", ("outside", "pages")),
    "calibrate": (calibration.calibrate, "--seeds 5 --preset fast --epochs 3", ("calibrate",)),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one proof; return the exit status: 0 = proven, 1 = it failed, 2 = bad input, 130 = interrupted."""
    return run_one("validity", __doc__, COMMANDS, arguments, {CollectionError: 1, SandboxUnavailableError: 1})


if __name__ == "__main__":
    sys.exit(main())
