"""A question about a student's own code, with its answer and the code that it shows; and sheets of them to print."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from foundation.texts import printable
from foundation.whole_files import write_whole

from ..intake import Intake
from ..reports.html import CodeLine, Excerpt, code_line, make_environment
from .student_lines import Statement

AROUND = 12
"""Lines that are shown before and after the one that is asked about."""
LETTERS = "ABCD"
N_OPTIONS = len(LETTERS)
TEMPLATES = Path(__file__).parent / "templates"
QUESTIONS, ANSWERS = "questions", "answers"


@dataclass(frozen=True)
class Option:
    """One of several answers: a text, or a changed line of code.

    Attributes:
        text: in words; code in it stands between backquotes.
        place: of the line.
        before: the line as it is.
        after: the line as it would be.
    """

    text: str = ""
    place: str = ""
    before: str = ""
    after: str = ""

    @property
    def shown(self) -> str:
        """What is read of it."""
        return self.after or self.text


@dataclass(frozen=True)
class Question:
    """A question.

    Attributes:
        kind: of question; see `examiner.KINDS`.
        component: that it is about, "layers.LayerNorm".
        text: the question, a paragraph for each item; code in it stands between backquotes.
        excerpts: of the code.
        change: of the code, that the question is about; None = of no change.
        options: the answers to choose from; none where the student finds the answer alone.
        right: the index of the right option; None where there are none.
        answer: the answer in words.
        why: what the examiner should know besides, a paragraph for each item.
    """

    kind: str
    component: str
    text: tuple[str, ...]
    answer: str
    excerpts: tuple[Excerpt, ...] = ()
    change: Option | None = None
    options: tuple[Option, ...] = ()
    right: int | None = None
    why: tuple[str, ...] = ()


def multiple_choice(
    kind: str,
    component: str,
    text: tuple[str, ...],
    right: Option,
    options: Sequence[Option],
    excerpts: tuple[Excerpt, ...] = (),
    change: Option | None = None,
    why: tuple[str, ...] = (),
) -> Question:
    """A question with options in this order, of which one is right."""
    index = options.index(right)
    answer = f"{LETTERS[index]}: {right.text}" if right.text else LETTERS[index]
    return Question(kind, component, text, answer, excerpts, change, tuple(options), index, why)


def changed_line(intake: Intake, module: str, line: int, text: str) -> Option:
    """A line of a module as it is, and as it is in another text of the module."""
    before, after = (code_line(one.split("\n")[line - 1].strip()) for one in (intake.sources[module][1], text))
    file, number = place_of(intake, module, line)
    return Option(place=f"{file}, line {number}", before=before, after=after)


def place_of(intake: Intake, module: str, line: int) -> tuple[str, str]:
    """The file, or the notebook's cell, of a line, and the line's number there."""
    file, _, number = intake.locate(module, line).rpartition(", line ")
    return printable(file), printable(number)


def excerpt_of(intake: Intake, statement: Statement, meant: Sequence[int] = ()) -> Excerpt:
    """A statement, or the lines that are meant, marked in the function around them; its docstring is left out."""
    function, meant = statement.function, meant or statement.lines
    texts = [one for one in function.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)]
    hidden = {number for one in texts for number in range(one.lineno, (one.end_lineno or one.lineno) + 1)}
    head, near = range(function.lineno, function.body[0].lineno), range(meant[0] - AROUND, meant[-1] + AROUND + 1)
    shown = {*head, *near} - hidden
    lines = intake.sources[statement.module][1].split("\n")
    numbers = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    return excerpt(intake, statement.module, {n: lines[n - 1] for n in numbers if n in shown}, meant)


def excerpt(intake: Intake, module: str, lines: Mapping[int, str], meant: Sequence[int] = ()) -> Excerpt:
    """Lines of a module, by their numbers there, with those that are meant marked."""
    shown = [CodeLine(place_of(intake, module, n)[1], code_line(text), n in meant) for n, text in lines.items()]
    return Excerpt(place_of(intake, module, next(iter(lines)))[0], tuple(shown))


@dataclass(frozen=True)
class Sheet:
    """The questions for one student, or for partners.

    Attributes:
        key: unique, and a safe file name without its ending.
        name: for people.
        questions: `examiner.N_QUESTIONS` of them, or N_IN_A_SITTING.
        reason: why there are not so many; "" = there are.
        content: the beginning of the submission's hash.
        cpu: CPU seconds that it took, workers included.
    """

    key: str
    name: str
    questions: tuple[Question, ...] = ()
    reason: str = ""
    content: str = ""
    cpu: float = 0.0


def write_sheets(sheets: Sequence[Sheet], title: str, output: Path, is_class: bool = False) -> list[Path]:
    """Writes `questions.html` and `answers.html`; of a class also a file of each for every student.

    Args:
        sheets: of the students.
        title: of the assignment.
        output: an existing folder.
        is_class: whether each student gets files of their own, in the folders `questions` and `answers`.

    Returns:
        The two files with all sheets.
    """
    template = make_environment(TEMPLATES, code=with_code_spans).get_template("sheets.html")
    written = []
    for name, with_answers in ((QUESTIONS, False), (ANSWERS, True)):
        path = output / f"{name}.html"
        write_whole(path, template.render(sheets=sheets, title=title, with_answers=with_answers))
        written.append(path)
        if is_class:
            (output / name).mkdir(exist_ok=True)
            for sheet in sheets:
                text = template.render(sheets=[sheet], title=title, with_answers=with_answers)
                write_whole(output / name / f"{sheet.key}.html", text)
    return written


def remove_pages(keys: Iterable[str], output: Path) -> None:
    """Removes the files of students whose sheets are out of date and could not be drawn again."""
    for key in keys:
        for name in (QUESTIONS, ANSWERS):
            (output / name / f"{key}.html").unlink(missing_ok=True)


def with_code_spans(text: str) -> Markup:
    """Escaped text, in which what stands between backquotes is code."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 and index < len(parts) - 1 else escape(part)
        for index, part in enumerate(parts)
    )
