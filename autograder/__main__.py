"""Grades submissions in a sandbox, and takes a class from its download to marks."""

import argparse
import sys
from collections.abc import Callable

from foundation.command_line import Parser, add_command, print_anywhere, run_command

from .commands import ask, classes, demo, marks
from .commands.arguments import OPTIONS, TYPES, known_in_code
from .sandbox.errors import SandboxUnavailableError
from .testing.results import CollectionError

COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "grade": classes.grade_one,
    "list-class": classes.list_download,
    "similar": classes.similar,
    "grade-class": classes.grade,
    "override": marks.override,
    "comment": marks.comment,
    "late": marks.late,
    "export-marks": marks.export_class,
    "ask": ask.ask,
    "demo": demo.demo,
}


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = graded, 1 = the grader failed, 2 = bad input, 130 = interrupted."""
    print_anywhere()
    example = "example: python -m autograder grade-class submissions --roster roster.csv --output marks"
    parser = Parser(prog="python -m autograder", description=__doc__, epilog=example)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, function in COMMANDS.items():
        add_command(commands, name, function, OPTIONS, TYPES, known_in_code())
    options = parser.parse_args(arguments)

    def run() -> int:
        try:
            return int(options.run(options))
        except KeyboardInterrupt:
            raise KeyboardInterrupt("; finished results are kept") from None

    return run_command("autograder", run, {CollectionError: 1, SandboxUnavailableError: 1})


if __name__ == "__main__":
    sys.exit(main())
