"""Proves that component tests, diagnosis and thresholds are correct."""

import sys
from collections.abc import Mapping

from autograder.sandbox.errors import SandboxUnavailableError
from autograder.testing.results import CollectionError

from . import calibration, hints, mutate, outside, prove, same
from .console import Command, make_parser, run_one

COMMANDS: Mapping[str, tuple[Command, str]] = {
    "prove": (prove.prove, "--component layers.LayerNorm"),
    "mutate": (mutate.mutate, "--task 1.2"),
    "same": (same.compare, "--every 20"),
    "hints": (hints.measure, "--jobs 2"),
    "outside": (outside.outside, "clones --fetch"),
    "calibrate": (calibration.calibrate, "--seeds 5 --preset fast --epochs 3"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one proof; return the exit status: 0 = proven, 1 = it failed, 2 = bad input, 130 = interrupted."""
    parser = make_parser("validity", __doc__, COMMANDS)
    return run_one(parser, arguments, {CollectionError: 1, SandboxUnavailableError: 1})


if __name__ == "__main__":
    sys.exit(main())
