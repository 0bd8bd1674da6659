"""What all corpora share: the separator of a pair, the error for a wrong file, and the option for a folder of files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from foundation.command_line import UserError

if TYPE_CHECKING:
    from foundation.command_line import Parser

SEPARATOR = "|||"

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""What `add_subparsers` returns; its class has no public name."""


class CorpusError(UserError):
    """A file of the corpus is missing or wrong; the message says which, and what would be right."""


def output_folder(text: str) -> Path:
    """Reads the name of a folder to write to; refuses an empty one (from an unset shell variable)."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; write '.' for the current folder")
    return Path(text)
