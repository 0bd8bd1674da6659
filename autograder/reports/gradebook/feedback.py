"""Notebooks with a student's answers and our messages, for nbgrader's feedback and formgrader.

They are made from the notebooks that were handed out: only the text of answers comes from the submission, and it goes
into the cells of the release; neither outputs nor metadata of the student's own notebooks do.
"""

import ast
import json
import os
import shutil
import tempfile
from pathlib import Path

from ...intake import Intake
from ...intake.python_source import parse
from .target import test_cell

MISSING = "# No definition of {name} was found in what was handed in."


def write_feedback(folder: Path, notebooks: dict[str, dict], content: dict, intake: Intake | None) -> None:
    """Replaces a folder by the notebooks of one submission.

    Args:
        folder: such as `autograded/anna/transformer`.
        notebooks: as handed out, by name.
        content: of the record.
        intake: the submission's sources; None where it was refused.
    """
    parts = {test_cell(part["number"]): part for part in content["parts"]}
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
            os.replace(folder, Path(name) / "old")
        os.replace(made, folder)


def remove_feedback(folder: Path) -> None:
    """Takes away what an earlier run left."""
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


def _filled(cell: dict, answers: dict[str, str], parts: dict[str, dict]) -> dict:
    marks = cell["metadata"].get("nbgrader", {})
    name = marks.get("grade_id", "")
    if marks.get("solution"):
        wanted = next((line for line in "".join(cell["source"]).split("\n") if line.startswith(("class ", "def "))), "")
        defined = wanted.replace("(", " ").replace(":", " ").split()[1] if wanted else name
        return {**cell, "source": answers.get(defined, MISSING.format(name=defined))}
    if name in parts:
        part = parts[name]
        told = "\n".join(filter(None, (part["message"], part["traceback"])))
        said = f"{part['state']}: {part['score']:g} of {part['points']:g} points\n\n{told}".strip() + "\n"
        return {**cell, "outputs": [{"output_type": "stream", "name": "stdout", "text": said}], "execution_count": 1}
    return cell
