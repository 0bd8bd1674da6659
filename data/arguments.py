"""Values on the command line that argparse has no type for: whole numbers within limits, a folder for output."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

MOST_DIGITS = 18  # of any number; what is longer is a slip of the keyboard, and too long for other people's code


def whole_number(low: int, high: int = 10**MOST_DIGITS - 1) -> Callable[[str], int]:
    """The type of numbers from ``low`` to ``high``."""

    def read(text: str) -> int:
        is_number = text.isdecimal() and len(text) <= MOST_DIGITS
        if not is_number or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return int(text)

    return read


def output_folder(text: str) -> Path:
    """The type of folders that are written to. An empty name (an unset shell variable) is not the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; '.' is the current folder")
    return Path(text)
