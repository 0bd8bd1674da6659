"""Tables for spreadsheets and for the platforms that import them: nothing in them is computed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

Cell = str | float | None

BYTE_ORDER_MARK = "\ufeff"
FORMULA = re.compile(r"""((?:^|[,;:|\t\r\n"'])[\s"']*+)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
"""The place before what a spreadsheet would compute: at the beginning, or after what may separate cells."""


def as_csv(heading: Sequence[str], rows: Iterable[Mapping[str, Cell]]) -> str:
    """A table as CSV, quoted where needed; what a row lacks is empty, and other keys are left out.

    It begins with a byte-order mark: without one, spreadsheets take UTF-8 for an older encoding and spoil names.
    """
    text = io.StringIO()
    text.write(BYTE_ORDER_MARK)
    writer = csv.DictWriter(text, heading, restval="", extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def harmless(value: Cell) -> Cell:
    """Text that a spreadsheet takes for no formula, whichever character it reads as the end of a cell."""
    return FORMULA.sub(r"\1'", value) if isinstance(value, str) and value != "-" else value


def as_score(score: float | None) -> str:
    """Points with at most two decimals; empty where there are none."""
    return "" if score is None else f"{score:.2f}".rstrip("0").rstrip(".")
