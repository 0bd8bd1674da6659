"""Proves that component tests, diagnosis and thresholds judge correctly."""

import argparse
import sys

from autograder.sandbox.errors import SandboxUnavailableError
from autograder.testing.results import CollectionError
from foundation.command_line import Parser, print_anywhere, run_command
from foundation.whole_files import check_file, check_folder

from .calibration import add_calibrate
from .commands import add_hints, add_hunts, add_mutate, add_pairs, add_prove, add_prove_diagnosis, add_questions


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = proven, 1 = a proof failed, 2 = bad input, 130 = interrupted."""
    print_anywhere()
    options = make_parser().parse_args(arguments)

    def command() -> int:
        check_output(options)
        return int(options.run(options))

    return run_command("validity", command, {CollectionError: 1, SandboxUnavailableError: 1})


def make_parser() -> argparse.ArgumentParser:
    """The commands with their flags."""
    example = "example: python -m validity prove --seeds 2"
    parser = Parser(prog="python -m validity", description=__doc__, epilog=example)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    adds = (add_prove, add_pairs, add_mutate, add_prove_diagnosis, add_questions, add_hints, add_hunts, add_calibrate)
    for add in adds:
        add(commands)
    return parser


def check_output(options: argparse.Namespace) -> None:
    """Finds a wrong output path before the work begins. Raises: UserError."""
    output = getattr(options, "output", None)
    if output is not None:
        (check_file if "output" in getattr(options, "files", ()) else check_folder)(output)


if __name__ == "__main__":
    sys.exit(main())
