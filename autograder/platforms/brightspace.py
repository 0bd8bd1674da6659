"""Brightspace (D2L).

Its download has `USER-FOLDER - NAME - DATE` for each time that somebody handed in, as a folder or as the beginning of
each file's name, and `index.html` about all of them. DATE is `Oct 3, 2026 1145 PM` or `3 October, 2026 1145 PM`, by the
language of whoever downloads, in the time zone of the course. A group's entry has the group's name.

Grades, Import takes a CSV file whose heading names the grade item, `TITLE Points Grade`, and students by OrgDefinedId
or Username; each line ends with a `#` of its own column. The export, which serves as a roster, writes `#` before ids.
Feedback files go into a folder with the name of the student's in the download (Assignment, Add Feedback Files).
"""

import re
from collections.abc import Sequence
from pathlib import Path

from foundation.texts import as_score, printable

from .platform import Grade, HandedIn, Person, Student, Table, heading_in, known_by_names, read_time, table_of

ENTRY = re.compile(
    r"(?P<entry>(?P<user>\d+)-\d+ - (?P<name>[^-]+(?:-[^-]+)*?) ?- "
    r"(?P<time>(?:\w+\.? \d{1,2}|\d{1,2} \w+\.?),? \d{4} \d{3,4} ?[AP]M))(?: - (?P<file>.+))?",
    re.DOTALL,
)
EXAMPLE = "31-9 - Anna Smith - Oct 3, 2026 1145 PM"
CLOCK = re.compile(r"(\d{1,2})(\d\d) ?([AP]M)$")
ITEM = re.compile(r"(?P<title>.+) Points Grade(?: <[^>]*>)?", re.DOTALL)
END = "End-of-Line Indicator"
IDS = ("OrgDefinedId", "Username")


def _describe(folder: Path, match: re.Match[str]) -> HandedIn:
    time = read_time(CLOCK.sub(r"\1:\2 \3", match["time"]))
    person = Person(match["name"].strip(), {"brightspace": match["user"]})
    return HandedIn(
        match["entry"],
        folder / match[0],
        (person,),
        f"{match['user']} {match['name']}",
        submitted=time and time.replace(tzinfo=None),  # the course's own
        unread_time="" if time else printable(match["time"], 40),
    )


def _table(grades: Sequence[Grade], column: str, max_score: float) -> Table:
    column, doubt = heading_in(grades, column, ITEM)
    column = column if ITEM.fullmatch(column) else f"{column} Points Grade"
    heading = [name for name in IDS if any(grade.student.row.get(name) for grade in grades)] or [*IDS]

    def row(grade: Grade) -> dict[str, str]:
        cells = {name: grade.student.row.get(name, "") for name in IDS}
        return {**cells, column: as_score(grade.score), END: "#"} if any(cells.values()) else {}

    return table_of(grades, (*heading, column, END), row, doubt=doubt, has_mark=False)


def _feedback(student: Student) -> str | None:
    """A file in the student's folder; None where the download was not Brightspace's."""
    match = ENTRY.fullmatch(student.file)
    return f"{printable(match['entry'])}/feedback.html" if match else None


BRIGHTSPACE = known_by_names("Brightspace", ENTRY, _describe, example=EXAMPLE, table=_table, feedback=_feedback)
