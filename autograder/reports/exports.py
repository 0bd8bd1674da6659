"""Marks and feedback in the forms that learning platforms import: a table and an archive for each platform.

A student without a score has no mark there, either: never a zero.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from foundation.texts import as_score, counted
from foundation.whole_files import make_zip, write_whole

from ..classroom.marks import PartMark, Result
from ..classroom.roster import Index
from ..platforms.download import PLATFORMS
from ..platforms.platform import Grade, Person, Student, Table

Cell = str | float | None
STUDENTS = "students"  # the folder of their pages, within that of the marks
BYTE_ORDER_MARK = "\ufeff"
FORMULA = re.compile(r"""((?:^|[,;:|\t\r\n"'])[\s"']*+)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
"""The place before a formula of spreadsheets: at the beginning, or after a character that may separate cells."""
MOST_CHARACTERS = 2_000
IMPORTING = {name: kind.table for name, kind in PLATFORMS.items() if kind.table}


def grades_of(results: Sequence[Result], roster: Sequence[Student] = ()) -> list[Grade]:
    """The marks of all students, with what a roster has, perhaps another platform's; ids decide, or else names."""
    persons = [[Person(result.member.name, result.member.ids)] for result in results]
    grades = []
    for result, (students, _) in zip(results, Index(roster).students_of(persons), strict=True):
        student = result.member
        if len(students) == 1:
            student = replace(student, ids={**student.ids, **students[0].ids}, row=students[0].row)
        elif roster:
            student = replace(student, row=dict.fromkeys(roster[0].row, ""))
        grades.append(Grade(student, result.score, result.status == "excused", comment_of(result)))
    return grades


def comment_of(result: Result) -> str:
    """The comments of people, and where points are missing and why, in one line; "" where there is no score."""
    mark = result.mark
    if mark is None or result.score is None:
        return ""
    texts = [mark.comment.text] if mark.comment else []
    if mark.by_hand:
        return "; ".join([*texts, f"by hand: {mark.by_hand.text}"])[:MOST_CHARACTERS]
    if days := mark.lateness.days:
        texts.append(f"{mark.lateness.percent:g}% off for {counted(days, 'late day')}")
    reasons = {part.by_hand and part.by_hand.text for part in mark.parts}
    why = reasons.pop() if len(reasons) == 1 else None
    texts += [f"all tasks by hand: {why}"] if why else []
    texts += filter(None, (_comment_on(part, bool(why)) for part in mark.parts))
    texts += result.record.judgement.notes if result.record else []
    return "; ".join([" ".join(text.split()) for text in texts] or ["all points"])[:MOST_CHARACTERS]


def _comment_on(mark: PartMark, is_explained: bool) -> str:
    """A part's mark and the reason, if it is not the full one or a person has something to say about it."""
    part, texts = mark.part, []
    is_less = part.points and (mark.by_hand or (not part.extension and (mark.score or 0.0) < part.points))
    if is_less and not is_explained:
        why = f"by hand: {mark.by_hand.text}" if mark.by_hand else mark.state
        texts.append(f"{as_score(mark.score)} of {as_score(part.points)} ({why})")
    texts += [mark.comment.text] if mark.comment else []
    return f"{part.number} {part.title}: {', '.join(texts)}" if texts else ""


def export(
    platform: str, grades: Sequence[Grade], column: str, max_score: float, source: Path, output: Path
) -> tuple[Table, list[str], list[str]]:
    """Writes `PLATFORM.csv`, and `PLATFORM-feedback.zip` with the students' pages where the platform takes any.

    `source` is the folder of marks; `column` is the assignment's heading or title on the platform. Returns the table,
    and the students with a score of whom the archive has no page: whom the platform does not know by a file, and those
    whose page is not written yet.
    """
    kind, table_of = PLATFORMS[platform], IMPORTING[platform]
    table = table_of(grades, column, max_score)
    write_whole(output / f"{platform}.csv", as_csv(table.heading, table.rows, table.has_mark))
    pages, unknown, unwritten = dict[str, bytes](), list[str](), list[str]()
    if kind.feedback is None:
        return table, unknown, unwritten
    for student in (grade.student for grade in grades if grade.score is not None and grade.student.key):
        path = source / STUDENTS / f"{student.key}.html"
        name = kind.feedback(student)
        if name and path.is_file():
            pages[name] = path.read_bytes()
        else:
            (unwritten if name else unknown).append(student.called)
    archive = output / f"{platform}-feedback.zip"
    archive.unlink(missing_ok=True)  # of an earlier export
    if pages:
        write_whole(archive, make_zip(pages))
    return table, unknown, unwritten


def as_csv(heading: Sequence[str], rows: Iterable[Mapping[str, Cell]], has_mark: bool = True) -> str:
    """A table as CSV, quoted where needed; what a row lacks is empty, and other keys are left out.

    It begins with a byte-order mark: without one, spreadsheets take UTF-8 for an older encoding and spoil names.
    """
    text = io.StringIO()
    text.write(BYTE_ORDER_MARK if has_mark else "")
    writer = csv.DictWriter(text, heading, restval="", extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def harmless(value: Cell) -> Cell:
    """Text that a spreadsheet takes for no formula, whichever character it reads as the end of a cell."""
    return FORMULA.sub(r"\1'", value) if isinstance(value, str) and value != "-" else value
