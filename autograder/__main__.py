"""Grades submissions in a sandbox, and takes a class from its download to marks."""

import argparse
import errno
import sys

from foundation.command_line import INTERRUPTED, Parser, UserError, print_anywhere, with_output
from foundation.texts import printable

from .commands import ask, classes, demo, grade, marks
from .grading.record import NotWrittenError
from .sandbox.errors import SandboxUnavailableError
from .testing.results import CollectionError

LONGEST = 2000
"""Characters of a message."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = graded, 1 = the grader failed, 2 = bad input, 130 = interrupted."""
    print_anywhere()
    options = make_parser().parse_args(arguments)
    try:
        return with_output(lambda: int(options.run(options)))
    except UserError as error:
        print(f"autograder: {printable(str(error), LONGEST)}", file=sys.stderr)
        return 2
    except (CollectionError, SandboxUnavailableError) as error:
        print(f"autograder: the submission was not graded: {error}", file=sys.stderr)
        return 1
    except NotWrittenError as error:
        print(f"autograder: {error}; finished results are kept", file=sys.stderr)
        return 1
    except OSError as error:  # over a page, or a temporary file
        if error.filename is None and error.errno not in NO_ROOM:
            raise
        where = printable(str(error.filename or "output"))
        print(f"autograder: {where}: {error.strerror}; finished results are kept", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("autograder: stopped; finished results are kept", file=sys.stderr)
        return INTERRUPTED


def make_parser() -> argparse.ArgumentParser:
    """The commands with their flags."""
    parser = Parser(
        prog="python -m autograder",
        description=__doc__,
        epilog="example: python -m autograder grade-class submissions --roster roster.csv --output marks",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (grade, classes, marks, ask):
        module.add_commands(commands)
    demo.add_commands(commands, main)
    return parser


if __name__ == "__main__":
    sys.exit(main())
