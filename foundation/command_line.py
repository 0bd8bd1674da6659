"""What all command lines of the kit share: error messages, exit statuses, output."""

import argparse
import sys
from typing import NoReturn

from .printable_text import printable

INTERRUPTED = 130
"""Exit status after Ctrl-C, as in shells: 128 plus the signal's number."""


class Parser(argparse.ArgumentParser):
    """An argparse parser that answers a wrong command line with one line that is safe to print."""

    def error(self, message: str) -> NoReturn:
        """Prints what is wrong and ends the process with status 2."""
        self.exit(2, f"{self.prog}: {printable(message)} (--help shows an example)\n")


def print_anywhere() -> None:
    """Makes stdout and stderr print characters that their encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
