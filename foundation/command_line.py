"""What the command lines of the kit have in common."""

import argparse
import sys
from typing import NoReturn

from .printable_text import printable

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it: 128 and the signal's number."""


class Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line is answered in one line that is safe to print."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)} (--help shows an example)\n")


def print_anywhere() -> None:
    """What a terminal's encoding lacks is printed as an escape: no reason to stop once the work is done."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
