"""The entries of a class's folder: each is a submission."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from foundation.assignment_file import Assignment
from foundation.printable_text import printable
from foundation.whole_files import OutputError

from ..intake import ARCHIVES
from .errors import ClassError
from .record_names import record_names
from .records import EARLIER, RECORDS

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


def entries_of(folder: Path, output: Path, assignment: Assignment) -> list[Entry]:
    """Everything in a folder that is not hidden, in order of names.

    Args:
        folder: each entry is a submission.
        output: where the records go.
        assignment: by whose files a folder that is itself a submission is recognised.

    Raises:
        ClassError: where it is not a folder of submissions.
        OutputError: where the records would lie among the submissions, or the submissions among the records.
    """
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise ClassError(f"{folder}: {error.strerror}; expected a folder with one entry per submission") from None
    paths = [path for path in found if not is_hidden(path.name)]
    modules = [path.name for path in paths if path.name in assignment.contract.files]
    if modules and not any(looks_handed_in(path, assignment) for path in paths):
        what = f"contains {modules[0]}, so it is a submission itself"
        raise ClassError(f"{folder}: {what}; grade it with `grade {folder}`")
    if not paths:
        raise ClassError(f"{folder}: empty; expected one folder, archive or notebook per submission")
    keep_apart(folder, output)
    if hidden := [path.name for path in found if is_hidden(path.name) and path.name not in CLUTTER]:
        shown = ", ".join(printable(name, 40) for name in hidden[:MOST_NAMES])
        more = f" and {len(hidden) - MOST_NAMES} more" if len(hidden) > MOST_NAMES else ""
        print(f"note: not graded, since names that begin with . or __ are hidden: {shown}{more}", file=sys.stderr)
    names = record_names([path.name for path in paths])
    return [Entry(path, output / RECORDS / f"{names[path.name]}.json") for path in paths]


def keep_apart(folder: Path, output: Path) -> None:
    """Refuses records among the submissions: an entry called `marks` could bring forged ones.

    Raises:
        OutputError: which says where to put them instead.
    """
    above, below = (Path(os.path.realpath(path)) for path in (folder, output))
    if below.is_relative_to(above):
        what = "lies in the folder of submissions, where one of them could bring forged records"
        raise OutputError(f"--output {printable(str(output))}: {what}; name one beside it, such as --output ../marks")
    if any(above.is_relative_to(below / name) for name in (RECORDS, EARLIER)):
        raise OutputError(f"{printable(str(folder))}: holds the records of --output {printable(str(output))}")


def looks_handed_in(path: Path, assignment: Assignment) -> bool:
    """Whether an entry is an archive, or a folder with the assignment's modules: then it lies in a class's folder."""
    if path.name.lower().endswith(ARCHIVES):
        return True
    if path.is_symlink() or not path.is_dir() or path.name == assignment.package:
        return False
    places = (path, path / assignment.package)
    return any(os.path.lexists(place / file) for place in places for file in assignment.contract.files)


def is_hidden(name: str) -> bool:
    """Whether an entry of the class's folder is not a submission."""
    return name.startswith((".", "__"))
