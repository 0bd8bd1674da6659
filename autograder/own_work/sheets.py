"""Sheets of questions: drawn for each student, always the same in a term, to be printed; and a sitting in class.

questions.html   for students, a sheet for each       answers.html   for those who ask, or mark

Of a sitting, these two are in the folder sitting-NAME, with
key.json         the right letters, by student        answers.csv    to be filled in
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from foundation.command_line import UserError
from foundation.texts import printable
from foundation.whole_files import write_whole

from ..classroom.roster import rows_of
from ..course.assignment_code import table_of
from ..grading.provenance import Seeds
from ..grading.record import content_hash
from ..intake.submission import Intake
from ..reports.exports import Cell, as_csv
from ..reports.pages import code_line, make_environment
from ..testing.case import number_of
from .graded import Bench, InSandbox
from .hunts import hunt_question
from .questions import LETTERS, Question, input_question, shape_question, value_question
from .student_lines import definitions_of, place_of

N_QUESTIONS, N_IN_A_SITTING = 5, 6
Ask = Callable[[InSandbox, random.Random], Question | None]
KINDS: Mapping[str, tuple[Ask, str]] = {
    "input": (input_question, "CALLS"),
    "shape": (shape_question, "SCENES"),
    "value": (value_question, "BY_HAND"),
}
"""The function of each kind of question, and the table of the components that it can be asked about."""
HUNT: Mapping[str, tuple[Ask, str]] = {"hunt": (hunt_question, "CALLS")}
TEMPLATES = Path(__file__).parent / "templates"
KEY, ANSWERS = "key.json", "answers.csv"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}")
NONE = "-"
"""In the place of a letter: no answer."""


class SheetKey(NamedTuple):
    """The key of one student's sheet in a sitting."""

    name: str
    letters: str  # the right ones
    n: int = N_IN_A_SITTING  # of right answers that give all points


@dataclass(frozen=True)
class Sheet:
    """The questions for one student."""

    key: str  # of the submission; where it has several authors, the student's id
    name: str
    questions: tuple[Question, ...] = ()
    reason: str = ""  # why there are too few
    is_all: bool = False  # nothing is missing or wrong: no more questions fit this code

    @property
    def n_marked(self) -> int:
        """The right answers that give all points of a sitting: as to a whole sheet, if code is missing or wrong."""
        return len(self.questions) if self.is_all else N_IN_A_SITTING


class Examiner:
    """Asks about one submission after the other."""

    def __init__(self, bench: Bench, seeds: Seeds, sitting: str = "", is_hunt: bool = False) -> None:
        """Takes an open grader and the term's seeds; the name of a sitting, such as its date, draws other questions."""
        self._bench, self._seeds, self._sitting = bench, seeds, sitting
        self._n_questions = 1 if is_hunt else N_IN_A_SITTING if sitting else N_QUESTIONS
        self._kinds = HUNT if is_hunt else KINDS

    def sheet(self, key: str, name: str, intake: Intake) -> Sheet:
        """The questions for whoever has handed this in. Raises: SandboxUnavailableError."""
        content, on = content_hash(intake.hashes), f" on {self._sitting}" if self._sitting else ""
        seed = self._seeds.seed_of(f"questions to {key} about {content}{on}")
        assignment, tables = self._bench.assignment, {table for _, table in self._kinds.values()}
        askable = set().union(*(table_of(assignment, table) for table in tables))
        names = [c for task in assignment.tasks if not task.extension for c in task.components if c in askable]
        places = {name: place_of(name, intake.sources).rpartition(".") for name in names}
        defined = {module: definitions_of(intake.sources[module][1]) for module in intake.submitted}
        written = [name for name, (module, _, title) in places.items() if title in defined.get(module, ())]
        components = [InSandbox(name, intake, self._bench, seed) for name in written]
        questions = self._draw(components, seed)
        questions.sort(key=lambda question: names.index(question.component))
        if len(questions) == self._n_questions:
            return Sheet(key, name, tuple(questions))
        reason = why_no_more(names, components)
        return Sheet(key, name, tuple(questions), reason or "no more fit this code", is_all=not reason)

    def _draw(self, components: list[InSandbox], seed: int) -> list[Question]:
        """Draw questions of different kinds about different components, as far as there are any."""
        kinds = self._kinds.items()
        pairs = [(kind, c) for kind, (_, table) in kinds for c in components if c.table(table) is not None]
        random.Random(seed).shuffle(pairs)  # noqa: S311  the same all term
        questions: list[Question] = []
        times: Counter[str] = Counter()
        while pairs and len(questions) < self._n_questions:
            pairs.sort(key=lambda pair: times[pair[0]] + times[pair[1].name])
            kind, component = pairs.pop(0)
            draw = random.Random(number_of(seed, kind, component.name))  # noqa: S311
            if component.works and (question := self._kinds[kind][0](component, draw)) is not None:
                questions.append(question)
                times.update((kind, component.name))
        return questions


def why_no_more(names: Sequence[str], components: Sequence[InSandbox]) -> str:
    """Return what is missing or wrong where there are fewer questions than there should be; "" where nothing is."""
    if not components:
        return "none of the components that are asked about is in the submission"
    written = {component.name for component in components}
    faulty = [component.title for component in components if not component.works]
    absent = [name.partition(".")[2] for name in names if name not in written]
    stuck = [c.title for c in components if c.works and not any(c.results()[0].values())]
    reasons = {
        "not all tests pass for": faulty,
        "not written, or in a file that is not Python:": absent,
        "cannot run without other components:": stuck,
    }
    return "; ".join(f"{why} {', '.join(some)}" for why, some in reasons.items() if some)


def write_sheets(sheets: Sequence[Sheet], title: str, output: Path) -> list[Path]:
    """Writes `questions.html` and `answers.html` into an existing folder, and returns their paths."""
    template = make_environment(TEMPLATES, line=code_line).get_template("sheets.html")
    pages = {output / "questions.html": False, output / "answers.html": True}
    for path, with_answers in pages.items():
        write_whole(path, template.render(sheets=sheets, title=title, with_answers=with_answers))
    return [*pages]


def write_key(sheets: Sequence[Sheet], folder: Path) -> None:
    """Writes the key of a sitting, and the file to be filled in unless it is there already."""
    key = {s.key: [s.name, "".join(question.letter for question in s.questions), s.n_marked] for s in sheets}
    write_whole(folder / KEY, json.dumps(key, indent=2, ensure_ascii=False) + "\n")
    if not (folder / ANSWERS).exists():
        rows: list[Mapping[str, Cell]] = [{"student": sheet.key, "name": sheet.name} for sheet in sheets]
        write_whole(folder / ANSWERS, as_csv(["student", "name", "answers"], rows))


def read_key(folder: Path) -> dict[str, SheetKey]:
    """Read the key of a sitting. Raises: UserError where the sitting was not drawn, or is damaged."""
    try:
        content = json.loads((folder / KEY).read_text(encoding="utf-8"))
        return {who: SheetKey(str(name), str(letters), *map(int, n)) for who, (name, letters, *n) in content.items()}
    except FileNotFoundError:
        raise UserError(f"{printable(str(folder))}: no such sitting; draw it first: ask … --sitting NAME") from None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{printable(str(folder / KEY))}: cannot be read ({error}); draw the sitting again") from None


def read_answers(path: Path, key: Mapping[str, SheetKey]) -> dict[str, str]:
    """Read the answers of those who have given any: as many letters as there are questions, `-` for none.

    Raises: UserError naming the line, and what would be right.
    """
    answers: dict[str, str] = {}
    (_, heading), *rows = rows_of(path) or [(1, list[str]())]
    for line, cells in rows:
        row, where = dict(zip(heading, cells, strict=False)), f"{printable(str(path))}, line {line}"
        student, letters = row.get("student", "").strip(), re.sub(r"[\s,;]", "", row.get("answers", "")).upper()
        if not letters:
            continue
        if student not in key:
            raise UserError(f"{where}: student = {printable(student, 60)!r}: expected one of {KEY}")
        n = len(key[student].letters)
        if len(letters) != n or set(letters) - set(LETTERS + NONE):
            expected = f"expected {n} of {', '.join(LETTERS)} or {NONE}, such as {'ABCD-A'[:n]}"
            raise UserError(f"{where}: answers = {printable(letters, 30)!r}: {expected}")
        if student in answers:
            raise UserError(f"{where}: {printable(student, 60)} occurs twice: remove one of the lines")
        answers[student] = letters
    return answers


def n_right(letters: str, right: str) -> int:
    """Count the right answers."""
    return sum(letter == due for letter, due in zip(letters, right, strict=True))
