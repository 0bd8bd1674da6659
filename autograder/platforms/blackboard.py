"""Blackboard Learn.

Its download (Download assignment file) has loose files: `TITLE_USERNAME_attempt_2026-10-03-23-45-12_FILE`, and for each
attempt `TITLE_USERNAME_attempt_2026-10-03-23-45-12.txt`, a receipt whose first line is `Name: Anna Smith (asmith)`. The
receipt has the user name where it has an underscore, or the title has. The time is the server's.

Upload grades takes CSV in UTF-8 or tabs in UTF-16, as it exports them. It finds students by Username, and a column by
the number behind its heading, `TITLE [Total Pts: 100 Score] |12345`; any other heading makes a new column of text.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from foundation.texts import as_score

from .platform import Grade, HandedIn, Person, Table, first_line, heading_in, known_by_names, table_of

FILE = re.compile(
    r"(?P<entry>(?P<title>.+?)_(?P<user>[^_]+)_attempt_(?P<time>\d{4}(?:-\d\d){5}))(?:_(?P<file>.+)|\.txt)", re.DOTALL
)
EXAMPLE = "HW 1_asmith_attempt_2026-10-03-23-45-12_layers.py"
NAME = re.compile(r"Name: (?P<name>.*) \((?P<user>[^()\s]+)\)")
ITEM = re.compile(r"(?P<title>.+) \[Total Pts: [^\]]*\](?: \|\d+)?", re.DOTALL)
STUDENT = ("Last Name", "First Name", "Username")


def _describe(folder: Path, match: re.Match[str]) -> HandedIn:
    receipt = NAME.fullmatch(first_line(folder / f"{match['entry']}.txt") or "")
    name, user = (receipt["name"], receipt["user"]) if receipt else ("", match["user"])
    try:
        time, unread = datetime.strptime(match["time"], "%Y-%m-%d-%H-%M-%S"), ""  # noqa: DTZ007  the server's
    except ValueError:
        time, unread = None, match["time"]
    person = Person(name, {"blackboard": user, "login": user})
    return HandedIn(match["entry"], folder / match[0], (person,), user, submitted=time, unread_time=unread)


def _table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    """The grades of one column."""
    column, doubt = heading_in(grades, column, ITEM)
    if not doubt and not ITEM.fullmatch(column):
        doubt = "without Blackboard's own export as --roster the column's number is not known, and it makes a new one"

    def row(grade: Grade) -> dict[str, str]:
        student = grade.student
        user = student.row.get("Username", "") if student.row else student.ids.get("blackboard", "")
        cells = {heading: student.row.get(heading, "") for heading in STUDENT}
        return {**cells, "Username": user, column: as_score(grade.score)} if user else {}

    return table_of(grades, (*STUDENT, column), row, doubt=doubt)


BLACKBOARD = known_by_names("Blackboard", FILE, _describe, example=EXAMPLE, table=_table)
