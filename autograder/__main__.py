"""Grades submissions in a sandbox, and takes a class from its download to marks."""

import argparse
import errno
import sys

from foundation.command_line import INTERRUPTED, Parser, UserError, print_anywhere, with_output
from foundation.texts import printable

from .commands import ask, classes, demo, marks
from .grading.record import NotWrittenError
from .sandbox.errors import SandboxUnavailableError
from .testing.results import CollectionError

LONGEST = 2000
"""Characters of a message."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 = graded, 1 = the grader failed, 2 = bad input, 130 = interrupted."""
    print_anywhere()
    options = _parser().parse_args(arguments)
    try:
        return with_output(lambda: int(options.run(options)))
    except UserError as error:
        message, status = printable(str(error), LONGEST), 2
    except (CollectionError, SandboxUnavailableError) as error:
        message, status = f"the submission was not graded: {error}", 1
    except NotWrittenError as error:
        message, status = f"{error}; finished results are kept", 1
    except OSError as error:  # over a page, or a temporary file
        if error.filename is None and error.errno not in NO_ROOM:
            raise
        where = printable(str(error.filename or "output"))
        message, status = f"{where}: {error.strerror}; finished results are kept", 1
    except KeyboardInterrupt:
        message, status = "stopped; finished results are kept", INTERRUPTED
    print(f"autograder: {message}", file=sys.stderr)
    return status


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
