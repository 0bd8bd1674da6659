"""The entries of a class's folder: each is a submission."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from foundation.contract import Contract
from foundation.printable_text import printable

from .errors import ClassError
from .record_names import record_names
from .records import RECORDS

CLUTTER = {".DS_Store", "__MACOSX", "__pycache__"}
MOST_NAMES = 8


@dataclass(frozen=True)
class Entry:
    """One entry of the class's folder.

    Attributes:
        path: of the submission.
        record: the file of its record.
    """

    path: Path
    record: Path


def entries_of(folder: Path, output: Path, contract: Contract) -> list[Entry]:
    """Everything in a folder that is not hidden, in order of names.

    Args:
        folder: each entry is a submission.
        output: where the records go; it may lie in the folder, and is not a submission.
        contract: by which a folder that is itself a submission is recognised.

    Raises:
        ClassError: where it is not a folder of submissions.
    """
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise ClassError(f"{folder}: {error.strerror}; expected a folder with one entry per submission") from None
    paths = [path for path in found if not is_hidden(path.name)]
    if modules := [path.name for path in paths if path.name in contract.files]:
        what = f"contains {modules[0]}, so it is a submission itself"
        raise ClassError(f"{folder}: {what}; grade it with `grade {folder}`")
    paths = [path for path in paths if path.resolve() != output.resolve()]
    if not paths:
        raise ClassError(f"{folder}: empty; expected one folder, archive or notebook per submission")
    if hidden := [path.name for path in found if is_hidden(path.name) and path.name not in CLUTTER]:
        shown = ", ".join(printable(name, 40) for name in hidden[:MOST_NAMES])
        more = f" and {len(hidden) - MOST_NAMES} more" if len(hidden) > MOST_NAMES else ""
        print(f"note: not graded, since names that begin with . or __ are hidden: {shown}{more}", file=sys.stderr)
    names = record_names([path.name for path in paths])
    return [Entry(path, output / RECORDS / f"{names[path.name]}.json") for path in paths]


def is_hidden(name: str) -> bool:
    """Whether an entry of the class's folder is not a submission."""
    return name.startswith((".", "__"))
