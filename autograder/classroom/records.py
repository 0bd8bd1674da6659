"""Where the records of a class are kept.

    records/NAME.json    the present record
    earlier/NAME.json    the last finished one before it

No record is ever deleted before its successor exists. A record that this term's grader has not sealed does not count.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from foundation.whole_files import make_folder

from ..grading.record import NotWrittenError, Record, read_record, write_record
from ..grading.seeds import Seeds
from .errors import ClassError

RECORDS, EARLIER = "records", "earlier"
UNFINISHED = ".unfinished-*"
"""What a process leaves behind that is killed while it writes; see `in_one_piece`."""


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keeps a folder of records for this process, until the block ends; files that a killed process has begun go.

    Raises:
        ClassError: where another process holds it.
        NotWrittenError: where no files can be created in it.
    """
    try:
        make_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise NotWrittenError(folder, error) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ClassError(f"{folder}: another grade-class is writing there; wait until it has ended") from None
        except OSError:  # a file system without locks
            pass
        else:
            for place in (folder, folder.with_name(EARLIER), folder.parent):
                for path in place.glob(UNFINISHED):
                    path.unlink(missing_ok=True)
        yield
    finally:
        os.close(descriptor)


def store(path: Path, record: Record, seeds: Seeds) -> None:
    """Seals a record and makes it the present one; a finished one of ours that it replaces is kept beside it.

    Raises:
        NotWrittenError: where that fails, also where the folder is not there any more.
    """
    if not path.parent.is_dir():  # not made anew: it may have been on a disk that is not there at present
        raise NotWrittenError(path.parent, FileNotFoundError("it was there when grading began, and is gone"))
    present = read_record(path)
    if present is not None and present.is_finished and seeds.has_sealed(present):
        write_record(earlier(path), present)
    write_record(path, seeds.seal(record))


def stored_records(keys: Iterable[str], output: Path, seeds: Seeds) -> dict[str, Record]:
    """The records of these submissions that this term's grader has sealed, by key."""
    found = {key: read_record(output / RECORDS / f"{key}.json") for key in keys}
    return {key: record for key, record in found.items() if record is not None and seeds.has_sealed(record)}


def earlier(path: Path) -> Path:
    """Where the record before the present one is."""
    return path.parent.with_name(EARLIER) / path.name
