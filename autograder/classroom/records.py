"""The folder that a class's results go to, and the records in it: `records/NAME.json` for each submission.

A record there is a copy of the store's result that counts, for people and other programs. It is written after each run
where it differs, and nothing is ever read from it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from foundation.command_line import UserError
from foundation.whole_files import make_folder

from ..grading.record import NotWrittenError, Record, as_text, write_record

FEW, ALL = 8, 64
"""Digits of a name's hash: what two different names may share by chance or by craft, and what none do."""


def record_names(names: Sequence[str]) -> dict[str, str]:
    """The record's file name for each entry; they differ even on systems that ignore case.

    Entries whose names come to the same file name get longer ones; no other entry's name depends on that.
    """
    made = {name: file_name(name) for name in names}
    for digits in (FEW, ALL):
        times = Counter(one.casefold() for one in made.values())
        made = {name: one if times[one.casefold()] == 1 else with_digest(name, digits) for name, one in made.items()}
    return made


def file_name(name: str) -> str:
    """The name itself if it is a safe file name and does not look derived from another one; else a derived one."""
    if re.fullmatch(r"[\w@+-][\w.@+-]{0,99}", name, re.ASCII) and not re.search(r"-[0-9a-f]{8,}$", name, re.IGNORECASE):
        return name
    return with_digest(name, FEW)


def with_digest(name: str, digits: int) -> str:
    """A file name derived from any name."""
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:digits]
    return f"{re.sub(r'[^A-Za-z0-9@+-]+', '_', name)[:60]}-{digest}"


RECORDS = "records"
UNFINISHED = ".unfinished-*"
"""What a process leaves behind that is killed while it writes; see `in_one_piece`."""


@contextlib.contextmanager
def hold(output: Path, *inner: str) -> Iterator[None]:
    """Keeps a folder of results, with folders in it, for this process; files that a killed process has begun go.

    All are made where they are missing.

    Raises:
        UserError: where another process holds it.
        NotWrittenError: where no files can be created in it.
    """
    places = [output, *(output / name for name in inner)]
    try:
        for place in places:
            make_folder(place)
        descriptor = os.open(output, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NotWrittenError(output, error) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{output}: another command is writing there; wait until it has ended") from None
        except OSError:  # a file system without locks
            pass
        else:
            for path in (path for place in places for path in place.glob(UNFINISHED)):
                path.unlink(missing_ok=True)
        yield
    finally:
        os.close(descriptor)


def export(path: Path, record: Record) -> None:
    """Writes a record unless the file has it already. Raises: NotWrittenError where that fails."""
    try:
        is_there = path.read_text(encoding="utf-8") == as_text(record)
    except (OSError, UnicodeDecodeError):
        is_there = False
    if not is_there:
        write_record(path, record)
