"""A regrade of a large class, on one screen."""

import json
from pathlib import Path

from autograder.classroom.entries import Entry
from autograder.classroom.regrading import Change, Held, PartChange
from autograder.reports.class_summary import MOST_STUDENTS, REGRADE, as_regrade_table, write_regrade


def held(number, before, after, *reasons):
    entry = Entry(str(number), f"M\udcfcller {number}.zip", Path(str(number)))
    part = PartChange("1.2", "Attention", before, after, reasons)
    return Held(entry, Change(before, after, (part,)))


def test_of_many_the_reasons_come_first_and_the_largest_changes_next(tmp_path):
    """Also of students whose files have names that are no Unicode."""
    changes = [held(n, 14.0, 13.0, "worth 14 points before, 13 now") for n in range(30)]
    changes += [held(30, 14.0, 4.0, "worth 14 points before, 13 now", "test_x: passed before, failed now")]
    changes += [held(31, None, 4.0, "read by nobody")]
    names = {one.entry.key: f"student {one.entry.key}" for one in changes}
    first, *lines = as_regrade_table(changes, names).splitlines()
    assert first.startswith("32 marks would change")
    assert lines[:5] == [
        "  31 × 1.2 Attention (worth 14 points before, 13 now): -10 to -1",
        "  1 × 1.2 Attention (test_x: passed before, failed now): -10",
        "  1 × 1.2 Attention (read by nobody): +4",
        "  the largest changes:",
        "  student 31: no mark → 4",
    ]
    assert lines[6] == "  student 30: 14 → 4" and lines[-1] == f"  and {32 - MOST_STUDENTS} more, in regrade.json"
    write_regrade(changes, names, tmp_path)
    found = json.loads((tmp_path / REGRADE).read_text())
    assert len(found) == 32 and found[31]["submission"] == "M\\udcfcller 31.zip" and found[31]["after"] == 4.0
