"""What the command lines of the kit have in common."""

import argparse
from typing import NoReturn

from .printable import printable


class Parser(argparse.ArgumentParser):
    """argparse, but a wrong command line is answered in one line that is safe to print."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {printable(message)} (--help shows an example)\n")
