"""Marks and feedback in the forms that learning platforms import: a table and an archive for each platform.

A student without a score has no mark there, either: never a zero.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.texts import counted, first_of, printable

from ..classroom.handed_in import Person
from ..classroom.marks import PartMark, Result
from ..classroom.matching import Index
from ..classroom.platforms import CANVAS_FILE
from ..classroom.roster import Student
from ..grading.record import write_result
from .class_summary import as_csv, as_score
from .pages import STUDENTS

MOST_CHARACTERS = 2_000
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
        if record is None or mark is None or self.result.score is None:
            return ""
        texts = [mark.comment.text] if mark.comment else []
        if days := mark.lateness.days:
            texts.append(f"{mark.lateness.percent:g}% off for {counted(days, 'late day')}")
        texts += [told for one in mark.parts if (told := _told(one))]
        texts += record.judgement.notes
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
class Table:
    """A file to import."""

    heading: Sequence[str]
    rows: Sequence[Mapping[str, str]]  # by column
    unknown: Sequence[str] = ()  # students with a score whom the platform could not find
    note: str = ""  # what to see to before the import
    doubt: str = ""  # why marks would come into another place than the one that is meant


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


# Canvas's gradebook: Grades > Import, and for feedback Assignment > Upload submissions.
#
# Canvas finds students by ID (its own number), else by SIS User ID, SIS Login ID or name, and the assignment by a
# heading `Title (number)` or its title; for any other heading it makes a new assignment. It reads these columns in
# this order (`lib/gradebook_importer.rb` in instructure/canvas-lms). An empty cell would remove a mark that somebody
# has given by hand, so students without a score are left out. Feedback files are attached to the submission whose
# file's name they begin with (`infer_comment_context_from_filename`), and shown under that file's name.

CANVAS_STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
CANVAS_IDS = {"ID": "canvas", "SIS User ID": "number", "SIS Login ID": "login"}
ASSIGNMENT = re.compile(r"(?P<title>.+) \(\d+\)", re.DOTALL)


def canvas_table(marks: Sequence[Mark], column: str, max_score: float) -> Table:
    """The gradebook with one assignment."""
    column, doubt = column_in(marks, column)
    rows = [{"Student": "    Points Possible", column: as_score(max_score)}]
    unknown, has_roster = [], any(mark.row for mark in marks)
    for mark in marks:
        if mark.result.score is None:
            continue
        if has_roster and not mark.row and "canvas" not in mark.ids:  # a login of elsewhere may be somebody else's here
            unknown.append(mark.result.member.called)
            continue
        cells = {heading: mark.row.get(heading, "") or mark.ids.get(kind, "") for heading, kind in CANVAS_IDS.items()}
        if not any(cells.values()):
            unknown.append(mark.result.member.called)
        cells |= {"Student": mark.row.get("Student") or mark.result.member.name, "Section": mark.row.get("Section", "")}
        rows.append({**cells, column: as_score(mark.result.score)})
    return Table((*CANVAS_STUDENT, column), rows, unknown, doubt=doubt)


def column_in(marks: Sequence[Mark], wanted: str) -> tuple[str, str]:
    """The assignment's heading in Canvas's own export, or else what is wanted; and why that may be the wrong column."""
    found = (ASSIGNMENT.fullmatch(heading) for heading in dict.fromkeys(name for mark in marks for name in mark.row))
    titles = {one[0]: one["title"] for one in found if one}
    same = [wanted] if wanted in titles else [heading for heading, one in titles.items() if one == wanted]
    if len(same) == 1 or not titles:
        return (*same, wanted)[0], ""
    likely = same or sorted(titles, key=lambda heading: wanted.casefold() not in heading.casefold())
    shown = first_of([repr(printable(heading, 60)) for heading in likely], 5)
    which = f"{'more than one column' if same else 'no column'} of the gradebook is {wanted!r} and its number"
    return wanted, f"{which}: name the one that is meant with --column: {shown}"


def canvas_feedback(mark: Mark) -> str | None:
    """The beginning of the name of the student's file; None where the download was not Canvas's."""
    found = CANVAS_FILE.fullmatch(mark.result.member.file)
    return f"{found[0][: found.start('file')]}feedback.html" if found else None


# Moodle's grading worksheet: Submissions > Upload grading worksheet, and Upload multiple feedback files in a zip.
#
# Moodle finds students by Identifier, "Participant" and a number, and needs Grade and Last modified (grade), too; it
# skips empty grades, those above the maximum, and, unless told otherwise, marks that were changed after the
# worksheet's date (`mod/assign/feedback/offline` in moodle/moodle). Feedback comments are HTML there. A feedback file
# belongs to the student whose number its name has in the second place (`mod/assign/feedback/file/importziplib.php`).

MOODLE_HEADING = ("Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments")
NEEDED = ("Identifier", "Grade", "Last modified (grade)")


def moodle_table(marks: Sequence[Mark], column: str, max_score: float) -> Table:
    """The worksheet: the one that was given as a roster, filled in, or else a new one."""
    given = next((tuple(mark.row) for mark in marks if all(column in mark.row for column in NEEDED)), None)
    rows, unknown = [], []
    for mark in marks:
        if not (number := mark.ids.get("moodle", "")):
            unknown += [mark.result.member.called] if mark.result.score is not None else []
            continue
        row = {
            "Identifier": f"Participant {number}",
            "Full name": mark.result.member.name,
            "Maximum Grade": as_score(max_score),
            "Last modified (grade)": "-",
        }
        row |= mark.row if given else {}
        if mark.result.score is not None:
            row |= {"Grade": as_score(mark.result.score), "Feedback comments": html.escape(mark.comment, quote=False)}
        rows.append(row)
    above = [mark.result.member.called for mark in marks if (mark.result.score or 0.0) > maximum_of(mark, max_score)]
    why = "above the assignment's maximum there a mark is skipped; raise it, and export again: "
    note = why + first_of([printable(name, 60) for name in above], 5) if above else ""
    return Table(given or MOODLE_HEADING, rows, unknown, note)


def maximum_of(mark: Mark, max_score: float) -> float:
    """What the worksheet says that the assignment is worth, or else what it is worth here."""
    try:
        return float(mark.row.get("Maximum Grade", "").replace(",", "."))
    except ValueError:
        return max_score


def moodle_feedback(mark: Mark) -> str | None:
    """A name that Moodle splits at underscores; None where the student's number is unknown."""
    number = mark.ids.get("moodle", "")
    name = re.sub(r"[\W_]+", " ", mark.result.member.name).strip() or "student"
    return f"{name}_{number}_assignfeedback_file_feedback.html" if number.isdecimal() else None


PLATFORMS = {"canvas": (canvas_table, canvas_feedback), "moodle": (moodle_table, moodle_feedback)}
"""How each makes its table, and the name by which it finds the student of a feedback file."""


def export(
    platform: str, marks: Sequence[Mark], column: str, max_score: float, source: Path, output: Path
) -> tuple[Table, list[str]]:
    """Writes `PLATFORM.csv` and `PLATFORM-feedback.zip`; `source` is the folder of marks, with the students' pages.

    `column` is the assignment's heading or title in Canvas. Returns the table, and the students with a score of whom
    the archive has no page.
    """
    table_of, feedback_of = PLATFORMS[platform]
    table = table_of(marks, column, max_score)
    write_result(output / f"{platform}.csv", as_csv(table.heading, table.rows))
    pages, without = {}, []
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
