"""The reference in every form earns the same marks; what is forbidden earns none."""

import ast
import shutil
import zipfile
from pathlib import Path

import pytest

from autograder.grading.record import Record
from autograder.grading.recording import Recorder
from autograder.grading.seeds import Seeds
from autograder.grading.submission import events_of, open_grader
from autograder.intake import take_in
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

from .conftest import answer, as_notebook, code

pytestmark = pytest.mark.slow

GRADED = ("embedding", "attention", "layers", "model", "masks", "train", "decode")
SHARED = """%matplotlib inline
import math
from collections.abc import Iterable
from itertools import islice

import matplotlib.pyplot as plt
import torch
from torch import Tensor, nn
"""


@pytest.fixture
def marks_of(zygote, tmp_path):
    """Grades a path; points and states by task number."""
    references = tmp_path / "references.bpe"
    references.write_text("a|||b\n")

    def run(path: Path) -> tuple[dict[str, tuple[float, str]], Record]:
        assignment = read_assignment()
        intake = take_in(path, ROOT / "student", assignment)
        with open_grader(assignment, references, zygote=zygote) as grader:
            recorder = Recorder(intake.name, assignment, "0" * 16)
            record = recorder.add_all(events_of(intake, Seeds(b"a secret"), grader))
        return {part.number: (part.score, part.state) for part in record.judgement.parts}, record

    return run


@pytest.fixture
def folder(tmp_path) -> Path:
    """The reference's graded files."""
    (tmp_path / "anna").mkdir()
    for module in GRADED:
        shutil.copy(ROOT / "reference" / f"{module}.py", tmp_path / "anna")
    return tmp_path / "anna"


def cells_of(folder: Path) -> list[dict]:
    """An answer cell for each class and function."""
    cells = [code(SHARED)]
    for module in GRADED:
        text = (folder / f"{module}.py").read_text()
        for node in ast.parse(text).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                lines = text.split("\n")[first - 1 : node.end_lineno]
                cells.append(answer("\n".join(lines), f"task_{module}_{node.name}"))
    return [*cells, code("print(undefined)\nplt.plot([1])")]


def test_every_form_earns_the_same(folder, tmp_path, marks_of):
    expected, record = marks_of(folder)
    assert record.judgement.score == 90
    with zipfile.ZipFile(tmp_path / "anna.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"anna/student/{file.name}")
    (tmp_path / "anna.ipynb").write_bytes(as_notebook(cells_of(folder)))
    for name in ("anna.zip", "anna.ipynb"):
        found, record = marks_of(tmp_path / name)
        assert found == expected, name
        assert record.submission == "anna"


def test_a_broken_and_a_deleted_cell(folder, tmp_path, marks_of):
    cells = [cell for cell in cells_of(folder) if "task_train_" not in str(cell["metadata"])]
    for cell in cells:
        cell["source"] = cell["source"].replace("return self.gamma", "return self gamma")
    (tmp_path / "anna.ipynb").write_bytes(as_notebook(cells))
    found, record = marks_of(tmp_path / "anna.ipynb")
    lost = {number: state for number, (points, state) in found.items() if state != "passed" and number < "4"}
    assert lost == {"1.4": "error", "3.1": "not attempted"}
    [norm] = [part for part in record.judgement.parts if part.number == "1.4"]
    assert "(task_layers_LayerNorm), line" in norm.message and "return self gamma" in norm.traceback
