"""Marks and feedback in the forms that learning platforms import: a table and an archive for each platform.

A student without a score has no mark there, either: never a zero.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.texts import as_score, counted

from ..classroom.handed_in import Person
from ..classroom.marks import PartMark, Result
from ..classroom.matching import Index
from ..classroom.roster import Student
from ..grading.record import write_result
from ..platforms.download import PLATFORMS
from ..platforms.platform import Table
from .class_summary import as_csv
from .pages import STUDENTS

MOST_CHARACTERS = 2_000
IMPORTING = {name: (kind.table, kind.feedback) for name, kind in PLATFORMS.items() if kind.table}
MIDNIGHT = (1980, 1, 1, 0, 0, 0)  # the same marks make the same archive


@dataclass(frozen=True)
class Mark:
    """A student's mark."""

    result: Result
    ids: Mapping[str, str]  # by kind, as in `Person`, the roster's first
    row: Mapping[str, str]  # the student's line in the roster, by heading

    @property
    def comment(self) -> str:
        """What people say, and where points are missing and why, in one line; "" where there is no score."""
        record, mark = self.result.record, self.result.mark
        if mark is None or self.result.score is None:
            return ""
        texts = [mark.comment.text] if mark.comment else []
        if mark.by_hand:
            return "; ".join([*texts, f"by hand: {mark.by_hand.text}"])[:MOST_CHARACTERS]
        if days := mark.lateness.days:
            texts.append(f"{mark.lateness.percent:g}% off for {counted(days, 'late day')}")
        reasons = {one.by_hand and one.by_hand.text for one in mark.parts}
        why = reasons.pop() if len(reasons) == 1 else None
        texts += [f"all tasks by hand: {why}"] if why else []
        texts += [told for one in mark.parts if (told := _told(one, bool(why)))]
        texts += record.judgement.notes if record else []
        return "; ".join([" ".join(text.split()) for text in texts] or ["all points"])[:MOST_CHARACTERS]


def _told(one: PartMark, is_explained: bool) -> str:
    """What a part's mark is and why, if it is not the full one or a person has something to say about it."""
    part, texts = one.part, []
    is_less = part.points and (one.by_hand or (not part.extension and (one.score or 0.0) < part.points))
    if is_less and not is_explained:
        why = f"by hand: {one.by_hand.text}" if one.by_hand else part.state.value
        texts.append(f"{as_score(one.score)} of {as_score(part.points)} ({why})")
    if one.comment:
        texts.append(one.comment.text)
    return f"{part.number} {part.title}: {', '.join(texts)}" if texts else ""


def marks_of(results: Sequence[Result], roster: Sequence[Student] = ()) -> list[Mark]:
    """The marks of all students, with what a roster tells, perhaps another platform's; ids decide, or else names."""
    index = Index(roster)
    found = index.students_of([[Person(result.member.name, result.member.ids)] for result in results])
    marks = []
    for result, students in zip(results, found, strict=True):
        student = students[0] if len(students) == 1 else None
        ids = {**result.member.ids, **(student.ids if student else {})}
        marks.append(Mark(result, ids, student.row if student else {}))
    return marks


def export(
    platform: str, marks: Sequence[Mark], column: str, max_score: float, source: Path, output: Path
) -> tuple[Table, list[str]]:
    """Writes `PLATFORM.csv`, and `PLATFORM-feedback.zip` with the students' pages where the platform takes that.

    `source` is the folder of marks; `column` is the assignment's heading or title on the platform. Returns the table,
    and the students with a score of whom the archive has no page.
    """
    table_of, feedback_of = IMPORTING[platform]
    table = table_of(marks, column, max_score)
    write_result(output / f"{platform}.csv", as_csv(table.heading, table.rows, table.has_mark))
    pages, without = dict[str, bytes](), list[str]()
    if feedback_of is None:
        return table, without
    for mark in (mark for mark in marks if mark.result.score is not None):
        path = source / STUDENTS / f"{mark.result.member.key}.html"
        name = feedback_of(mark)
        if name and path.is_file():
            pages[name] = path.read_bytes()
        else:
            without.append(mark.result.member.called)
    write_result(output / f"{platform}-feedback.zip", as_zip(pages))
    return table, without


def as_zip(files: Mapping[str, bytes]) -> bytes:
    """An archive that depends on the files alone."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, MIDNIGHT), files[name], zipfile.ZIP_DEFLATED)
    return content.getvalue()
