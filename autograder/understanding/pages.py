"""Writes sheets as pages to print: questions in one file, answers in another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from foundation.whole_files import write_whole

from ..reports.html import make_environment
from .question import Sheet

TEMPLATES = Path(__file__).parent / "templates"
QUESTIONS, ANSWERS = "questions", "answers"


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
