"""Writes notebooks with a student's answers and our messages, for nbgrader's feedback and formgrader.

They are made from the notebooks that were handed out: the text of answers is put into the cells of the release, and
neither outputs nor metadata of the student's own notebooks are used.
"""

import ast
import json
import shutil
import tempfile
from pathlib import Path

from ...grading.record import Part, Record
from ...intake import Intake
from ...source.python_source import parse
from ..terminal import text_of
from .target import Json, test_cell

MISSING = "# The submission has no definition of {name}."


def write_feedback(folder: Path, notebooks: dict[str, Json], record: Record, intake: Intake | None) -> None:
    """Replaces a folder by one with the notebooks of a submission.

    Args:
        folder: such as `autograded/anna/transformer`.
        notebooks: as handed out, by name.
        record: of the submission.
        intake: the submission; None where it was refused.
    """
    parts = {test_cell(part.number): part for part in record.judgement.parts}
    answers = answers_of(intake) if intake else {}
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as name:
        made = Path(name) / "new"
        made.mkdir()
        for stem, notebook in notebooks.items():
            cells = [_filled(cell, answers, parts) for cell in notebook["cells"]]
            text = json.dumps({**notebook, "cells": cells}, indent=1, ensure_ascii=False) + "\n"
            (made / f"{stem}.ipynb").write_text(text, encoding="utf-8")
        if folder.exists():
            folder.replace(Path(name) / "old")
        made.replace(folder)


def remove_feedback(folder: Path) -> None:
    """Removes the notebooks of an earlier run."""
    shutil.rmtree(folder, ignore_errors=True)


def answers_of(intake: Intake) -> dict[str, str]:
    """The text of every class and function at the top level of the graded modules, by name."""
    answers: dict[str, str] = {}
    for module in sorted(intake.submitted):
        text = intake.sources[module][1]
        tree = parse(text)
        lines = text.split("\n")
        for node in tree.body if isinstance(tree, ast.Module) else ():
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                answers[node.name] = "\n".join(lines[first - 1 : node.end_lineno])  # the last one counts
    return answers


def _filled(cell: Json, answers: dict[str, str], parts: dict[str, Part]) -> Json:
    marks = cell["metadata"].get("nbgrader", {})
    name = marks.get("grade_id", "")
    if marks.get("solution"):
        wanted = next((line for line in "".join(cell["source"]).split("\n") if line.startswith(("class ", "def "))), "")
        defined = wanted.replace("(", " ").replace(":", " ").split()[1] if wanted else name
        return {**cell, "source": answers.get(defined, MISSING.format(name=defined))}
    if name in parts:
        part = parts[name]
        points = "no mark yet" if part.score is None else f"{part.score:g} of {part.points:g} points"
        shown = f"{part.state}: {points}\n\n{text_of(part)}".strip() + "\n"
        return {**cell, "outputs": [{"output_type": "stream", "name": "stdout", "text": shown}], "execution_count": 1}
    return cell
