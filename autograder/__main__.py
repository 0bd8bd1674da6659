"""Grades submissions in a sandbox, and takes a class from its download to marks."""

import argparse
import sys

from foundation.command_line import Parser, print_anywhere, run_command

from .commands import ask, classes, demo, marks
from .sandbox.errors import SandboxUnavailableError
from .testing.results import CollectionError


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = graded, 1 = the grader failed, 2 = bad input, 130 = interrupted."""
    print_anywhere()
    options = _parser().parse_args(arguments)

    def run() -> int:
        try:
            return int(options.run(options))
        except KeyboardInterrupt:
            raise KeyboardInterrupt("; finished results are kept") from None

    return run_command("autograder", run, {CollectionError: 1, SandboxUnavailableError: 1})


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m autograder",
        description=__doc__,
        epilog="example: python -m autograder grade-class submissions --roster roster.csv --output marks",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (classes, marks, ask, demo):
        module.add_commands(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
