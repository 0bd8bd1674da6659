"""Types for the command line that argparse lacks: whole numbers within limits, a folder for output."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from foundation.command_line import Parser

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""What `add_subparsers` returns; its class has no public name."""

MOST_DIGITS = 18  # longer numbers are slips of the keyboard, and too large for some libraries


def whole_number(low: int, high: int = 10**MOST_DIGITS - 1) -> Callable[[str], int]:
    """Makes the type of whole numbers from `low` to `high`."""

    def read(text: str) -> int:
        is_number = text.isdecimal() and len(text) <= MOST_DIGITS
        if not is_number or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return int(text)

    return read


def output_folder(text: str) -> Path:
    """Reads the name of a folder to write to; refuses an empty one (from an unset shell variable)."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; write '.' for the current folder")
    return Path(text)
