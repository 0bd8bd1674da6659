"""Where the records of a class are kept.

    records/NAME.json    the present record
    earlier/NAME.json    the last finished one before it

No record is ever deleted before its successor exists.
"""

from __future__ import annotations

from pathlib import Path

from foundation.whole_files import write_whole

from ..grading.record import Record, read_record, write_record

RECORDS, EARLIER = "records", "earlier"


def store(path: Path, record: Record) -> None:
    """Makes a record the present one; a finished one that it replaces is kept beside it."""
    present = read_record(path)
    if present is not None and present.is_finished:
        write_whole(earlier(path), path.read_bytes())
    write_record(path, record)


def earlier(path: Path) -> Path:
    """Where the record before the present one is."""
    return path.parent.with_name(EARLIER) / path.name
