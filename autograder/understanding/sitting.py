"""A sitting in class: a sheet of four-choice questions for each seat, the key, and the marks from what was answered.

sitting-NAME/questions.html   to be printed, a sheet for each seat       answers.html   for those who mark
sitting-NAME/key.json         the right letters, by seat                 answers.csv    to be filled in: seat,answers
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import StatisticsError, correlation

from foundation.command_line import UserError
from foundation.texts import printable
from foundation.whole_files import write_whole

from ..reports.class_summary import Cell, harmless
from .question import LETTERS, Sheet

KEY, ANSWERS, RESULTS = "key.json", "answers.csv", "results.csv"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
NONE = "-"
"""In the place of a letter: no answer."""
LEAST_SITTING, LEAST_DISCRIMINATION = 10, 0.1
"""Answers that are enough to judge a kind; and what it must reach to tell strong students from weak ones."""


@dataclass(frozen=True)
class Seat:
    """What one student was asked.

    Attributes:
        seat: its number.
        student: the student's key.
        name: for people.
        right: the letters, "BDACAD".
        kinds: of the questions.
    """

    seat: int
    student: str
    name: str
    right: str
    kinds: tuple[str, ...]


def seat(sheets: Sequence[Sheet]) -> list[tuple[Seat, Sheet]]:
    """A seat for each student who has questions, in the order of names."""
    asked = sorted((sheet for sheet in sheets if sheet.questions), key=lambda sheet: (sheet.name.casefold(), sheet.key))
    return [
        (
            Seat(
                number,
                sheet.key,
                sheet.name,
                "".join(LETTERS[one.right] for one in sheet.questions if one.right is not None),
                tuple(one.kind for one in sheet.questions),
            ),
            sheet,
        )
        for number, sheet in enumerate(asked, start=1)
    ]


def write_key(seats: Sequence[Seat], folder: Path) -> None:
    """Writes the key, and the file to be filled in unless it is there already."""
    write_whole(folder / KEY, json.dumps([asdict(one) for one in seats], indent=2, ensure_ascii=False) + "\n")
    if not (folder / ANSWERS).exists():
        lines: list[list[Cell]] = [["seat", "name", "answers"]]
        lines += [[one.seat, one.name, ""] for one in seats]
        write_whole(folder / ANSWERS, _as_csv(lines))


def read_key(folder: Path) -> dict[int, Seat]:
    """The seats by number. Raises: UserError where the sitting was not drawn, or its key is damaged."""
    try:
        rows = json.loads((folder / KEY).read_text(encoding="utf-8"))
        seats = [Seat(**{**row, "kinds": tuple(row["kinds"])}) for row in rows]
    except FileNotFoundError:
        raise UserError(f"{printable(str(folder))}: no such sitting; draw it first: ask --sitting NAME") from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"{printable(str(folder / KEY))}: cannot be read ({error}); draw the sitting again") from None
    return {one.seat: one for one in seats}


def read_answers(path: Path, seats: Mapping[int, Seat]) -> dict[int, str]:
    """What was answered, by seat: as many letters as there are questions, `-` for none; seats without any are left out.

    Raises:
        UserError: naming the line, and what would be right.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)  # a spreadsheet's depends on its language
        rows = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(
            f"{printable(str(path))}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None
    found: dict[int, str] = {}
    for line, row in enumerate(rows, start=2):
        where = f"{printable(str(path))}, line {line}"
        number, said = (row.get("seat") or "").strip(), re.sub(r"[\s,;]", "", row.get("answers") or "").upper()
        if not number.isdecimal() or int(number) not in seats:
            raise UserError(f"{where}: seat = {printable(number, 20)!r}: expected a number from 1 to {len(seats)}")
        wanted = seats[int(number)]
        allowed = LETTERS + NONE
        if said and (len(said) != len(wanted.right) or set(said) - set(allowed)):
            expected = f"expected {len(wanted.right)} of {', '.join(allowed[:-1])} or {NONE}"
            raise UserError(
                f"{where}: answers = {printable(said, 30)!r}: {expected}, such as {'ABCD-A'[: len(wanted.right)]}"
            )
        if int(number) in found:
            raise UserError(f"{where}: seat {number} occurs twice: remove one of the lines")
        if said:
            found[int(number)] = said
    return found


def n_right(said: str, seat: Seat) -> int:
    """How many answers are right."""
    return sum(one == other for one, other in zip(said, seat.right, strict=True))


def write_results(answers: Mapping[int, str], seats: Mapping[int, Seat], folder: Path) -> Path:
    """Writes who has how many right answers."""
    rows: list[list[Cell]] = [["seat", "student", "name", "right", "of"]]
    for number, said in sorted(answers.items()):
        one = seats[number]
        rows.append([number, one.student, one.name, n_right(said, one), len(one.right)])
    write_whole(folder / RESULTS, _as_csv(rows))
    return folder / RESULTS


@dataclass(frozen=True)
class Analysis:
    """How a kind of question did.

    Attributes:
        kind: of question.
        n: how many were answered.
        easiness: the share of right answers.
        discrimination: correlation of a right answer with the share of right answers to the student's other questions;
            None where it cannot be told.
    """

    kind: str
    n: int
    easiness: float
    discrimination: float | None

    @property
    def is_weak(self) -> bool:
        """Whether this kind should be dropped: it does not tell strong students from weak ones."""
        return self.discrimination is not None and self.discrimination < LEAST_DISCRIMINATION


def analyse(answers: Mapping[int, str], seats: Mapping[int, Seat]) -> list[Analysis]:
    """The kinds, from the hardest to the easiest."""
    pairs: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for number, said in answers.items():
        one = seats[number]
        total = n_right(said, one)
        for letter, right, kind in zip(said, one.right, one.kinds, strict=True):
            is_right = letter == right
            pairs[kind].append((float(is_right), (total - is_right) / max(1, len(said) - 1)))
    found = [
        Analysis(kind, len(some), sum(hit for hit, _ in some) / len(some), _correlation(some))
        for kind, some in pairs.items()
    ]
    return sorted(found, key=lambda one: one.easiness)


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's; None for few pairs, or where nothing varies."""
    if len(pairs) < LEAST_SITTING:
        return None
    try:
        return correlation(*zip(*pairs, strict=True))
    except StatisticsError:
        return None


def _as_csv(rows: Sequence[Sequence[Cell]]) -> str:
    """A table for a spreadsheet, which must not take a student's name for a formula."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([harmless(cell) for cell in row] for row in rows)
    return text.getvalue()
