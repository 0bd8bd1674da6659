"""What is exported of each student: the result, and what the platform calls the student."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from foundation.counting import counted
from foundation.printable_text import printable

from ...classroom.downloads import Person, Student
from ...classroom.downloads.matching import Index
from ...classroom.marks import PartMark
from ...classroom.results import Result
from ..spreadsheets import as_score

MOST_CHARACTERS = 2_000
LEAST_DIFFERENCE = 0.005  # of points


@dataclass(frozen=True)
class Mark:
    """A student's mark.

    Attributes:
        result: of the student.
        ids: kind -> value, as in `Person`; those of the roster come first.
        row: the student's line in the roster, by heading; empty where there is none.
    """

    result: Result
    ids: Mapping[str, str]
    row: Mapping[str, str]

    @property
    def name(self) -> str:
        """For people."""
        return self.result.member.name

    @property
    def name_and_id(self) -> str:
        """For the person who exports: two students may have one name."""
        member = self.result.member
        return member.name if member.id == member.name else f"{member.name} ({member.id})"

    @property
    def comment(self) -> str:
        """What people say, and where points are missing and why, in one line; "" where there is no score."""
        record, mark = self.result.record, self.result.mark
        if record is None or mark is None or self.result.score is None:
            return ""
        said = [mark.comment.text] if mark.comment else []
        days = counted(mark.lateness.days, "late day")
        late = [f"{mark.lateness.percent:g}% off for {days}"] if mark.lateness.percent else []
        parts = [told for one in mark.parts if (told := _told(one))]
        texts = [*said, *late, *parts, *record.judgement.notes]
        return "; ".join([" ".join(text.split()) for text in texts] or ["all points"])[:MOST_CHARACTERS]


def _told(one: PartMark) -> str:
    """What a part's mark is and why, if it is not the full one or a person has something to say about it."""
    part, texts = one.part, []
    if one.by_hand or (not part.extension and (one.score or 0.0) < part.points):
        why = f"by hand: {one.by_hand.text}" if one.by_hand else part.state.value
        texts.append(f"{as_score(one.score)} of {as_score(part.points)} ({why})")
    if one.comment:
        texts.append(one.comment.text)
    return f"{part.number} {part.title}: {', '.join(texts)}" if texts else ""


@dataclass(frozen=True)
class About:
    """What the marks are for.

    Attributes:
        title: of the assignment.
        max_score: without bonus points.
        column: its heading on the platform; "" = found in the roster, or else the title.
        points: what the platform's assignments are worth, by column, where the roster tells.
    """

    title: str
    max_score: float
    column: str = ""
    points: Mapping[str, str] = field(default_factory=dict)

    def other_points(self, said: Iterable[str]) -> str:
        """What the platform says that the assignment is worth, where that is something else."""
        for text in said:
            try:
                difference = abs(float(text.replace(",", ".")) - self.max_score)
            except ValueError:
                continue
            if difference > LEAST_DIFFERENCE:
                return (
                    f"its assignment is worth {printable(text, 20)} points, these marks are out of {self.max_score:g}; "
                    "change that first"
                )
        return ""


@dataclass(frozen=True)
class Table:
    """A file to import.

    Attributes:
        heading: the columns, in order.
        rows: by column.
        unknown: names and ids of students with a score whom the platform could not find.
        note: what a person should see to before the import, or "".
        doubt: why the platform would put these marks into another place than the one that is meant, or "".
    """

    heading: Sequence[str]
    rows: Sequence[Mapping[str, str]]
    unknown: Sequence[str] = ()
    note: str = ""
    doubt: str = ""


def marks_of(results: Sequence[Result], roster: Sequence[Student] = ()) -> list[Mark]:
    """The marks of all students, with what a roster of the platform tells about them.

    Args:
        results: of the class.
        roster: may come from another platform than the submissions; ids decide, or else names.
    """
    index = Index(roster)
    found = index.students_of([[Person(result.member.name, result.member.ids)] for result in results])
    marks = []
    for result, students in zip(results, found, strict=True):
        member = result.member
        student = students[0] if len(students) == 1 else None
        ids = {**member.ids, **student.ids} if student else dict(member.ids)
        marks.append(Mark(result, ids, student.row if student else {}))
    return marks
