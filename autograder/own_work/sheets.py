"""Sheets of questions to print; and a sitting in class: a seat for each sheet, the key, and marks from the answers.

questions.html   for students, a sheet for each       answers.html   for those who ask, or mark

Of a sitting, these two are in the folder sitting-NAME, with
key.json         the right letters, by seat           answers.csv    to be filled in: seat,answers
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from markupsafe import Markup, escape

from foundation.command_line import UserError
from foundation.texts import printable
from foundation.whole_files import write_whole

from ..classroom.roster import rows_of
from ..reports.class_summary import Cell, as_csv
from ..reports.html import make_environment
from .question import LETTERS, Question

TEMPLATES = Path(__file__).parent / "templates"
KEY, ANSWERS, RESULTS = "key.json", "answers.csv", "results.csv"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
NONE = "-"
"""In the place of a letter: no answer."""


@dataclass(frozen=True)
class Sheet:
    """The questions for one student, or for partners."""

    key: str  # of the submission
    name: str
    questions: tuple[Question, ...] = ()
    reason: str = ""  # why there are too few
    content: str = ""  # the beginning of the submission's hash


def write_sheets(sheets: Sequence[Sheet], title: str, output: Path) -> list[Path]:
    """Writes `questions.html` and `answers.html` into an existing folder, and returns their paths."""
    template = make_environment(TEMPLATES, code=with_code_spans).get_template("sheets.html")
    pages = {output / "questions.html": False, output / "answers.html": True}
    for path, with_answers in pages.items():
        write_whole(path, template.render(sheets=sheets, title=title, with_answers=with_answers))
    return [*pages]


def with_code_spans(text: str) -> Markup:
    """Escaped text, in which what stands between backquotes is code."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  what is in it is escaped


@dataclass(frozen=True)
class Seat:
    """Where one student sits, and the letters of the right answers, "BDACAD"."""

    seat: int
    student: str  # the key
    name: str
    right: str


def assign_seats(sheets: Sequence[Sheet]) -> list[tuple[Seat, Sheet]]:
    """A seat for each student who has questions, in the order of names."""
    asked = sorted((sheet for sheet in sheets if sheet.questions), key=lambda sheet: (sheet.name.casefold(), sheet.key))
    seats = []
    for number, sheet in enumerate(asked, start=1):
        right = "".join(LETTERS[question.right] for question in sheet.questions if question.right is not None)
        seats.append((Seat(number, sheet.key, sheet.name, right), sheet))
    return seats


def write_key(seats: Sequence[Seat], folder: Path) -> None:
    """Writes the key, and the file to be filled in unless it is there already."""
    write_whole(folder / KEY, json.dumps([asdict(seat) for seat in seats], indent=2, ensure_ascii=False) + "\n")
    if not (folder / ANSWERS).exists():
        rows: list[Mapping[str, Cell]] = [{"seat": seat.seat, "name": seat.name} for seat in seats]
        write_whole(folder / ANSWERS, as_csv(["seat", "name", "answers"], rows))


def read_key(folder: Path) -> dict[int, Seat]:
    """The seats by number. Raises: UserError where the sitting was not drawn, or its key is damaged."""
    try:
        rows = json.loads((folder / KEY).read_text(encoding="utf-8"))
        seats = [Seat(**row) for row in rows]
    except FileNotFoundError:
        raise UserError(f"{printable(str(folder))}: no such sitting; draw it first: ask … --sitting NAME") from None
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{printable(str(folder / KEY))}: cannot be read ({error}); draw the sitting again") from None
    return {seat.seat: seat for seat in seats}


def read_answers(path: Path, seats: Mapping[int, Seat]) -> dict[int, str]:
    """Read the answers by seat: as many letters as there are questions, `-` for none; seats without any are left out.

    Raises:
        UserError: naming the line, and what would be right.
    """
    answers: dict[int, str] = {}
    (_, heading), *rows = rows_of(path) or [(1, list[str]())]
    for line, cells in rows:
        row, where = dict(zip(heading, cells, strict=False)), f"{printable(str(path))}, line {line}"
        number, letters = row.get("seat", "").strip(), re.sub(r"[\s,;]", "", row.get("answers", "")).upper()
        if cells and (not number.isdecimal() or int(number) not in seats):
            raise UserError(f"{where}: seat = {printable(number, 20)!r}: expected a number from 1 to {len(seats)}")
        if not letters:
            continue
        n = len(seats[int(number)].right)
        if len(letters) != n or set(letters) - set(LETTERS + NONE):
            expected = f"expected {n} of {', '.join(LETTERS)} or {NONE}, such as {'ABCD-A'[:n]}"
            raise UserError(f"{where}: answers = {printable(letters, 30)!r}: {expected}")
        if int(number) in answers:
            raise UserError(f"{where}: seat {number} occurs twice: remove one of the lines")
        answers[int(number)] = letters
    return answers


def n_right(letters: str, seat: Seat) -> int:
    """Count the right answers."""
    return sum(letter == right for letter, right in zip(letters, seat.right, strict=True))


def write_results(answers: Mapping[int, str], seats: Mapping[int, Seat], folder: Path) -> Path:
    """Writes who has how many right answers."""
    rows = [asdict(seats[n]) | {"right": n_right(answers[n], seats[n]), "of": len(answers[n])} for n in sorted(answers)]
    write_whole(folder / RESULTS, as_csv(["seat", "student", "name", "right", "of"], rows))
    return folder / RESULTS
