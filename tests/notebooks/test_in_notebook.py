"""What runs in a student's notebook: checks, the answers of all notebooks as one package."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.at_home.notebook import AnswerPackage
from autograder.at_home.notebook import Course as Notebooks
from autograder.intake.sources import IntakeError
from foundation.command_line import UserError
from foundation.places import ROOT
from release.gates import write_all

from ..conftest import examples_in
from .conftest import cells_of

CHECKED = examples_in("notebooks/checked.toml")

RELEASED = {path.name: path.read_bytes() for path in (ROOT / "notebooks" / "release").rglob("*.ipynb")}
"""As committed: making them takes seconds, and a release that changes them fails the gate."""


@pytest.fixture
def folder(tmp_path):
    """The notebooks as they were handed out, beside skeleton and corpus."""
    for name, content in RELEASED.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "support").mkdir()
    (tmp_path / "support" / "skeleton").symlink_to(ROOT / "student")
    (tmp_path / "support" / "data").symlink_to(ROOT / "data")
    return tmp_path


@pytest.fixture
def history() -> list[str]:
    return [""]


@pytest.fixture
def notebooks(folder, history):
    package = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "student"}
    made = Notebooks(folder, folder / "support", lambda: history)
    yield made
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, AnswerPackage)]
    made.refresh()
    sys.modules.update(package)


def solved(course, name: str) -> str:
    cells = {id_: cell for path in RELEASED for id_, cell in cells_of(course.source, path).items()}
    return next(cell["source"] for id_, cell in cells.items() if id_.endswith(f"_{name}"))


def save(folder: Path, notebook: str, cell_id: str, text: str) -> None:
    path = folder / notebook
    content = json.loads(path.read_text())
    next(cell for cell in content["cells"] if cell["id"] == cell_id)["source"] = text
    path.write_text(json.dumps(content))


def test_a_prediction_is_right_or_wrong(folder, capsys) -> None:
    question = {"1.2": {"letters": "abc", "right": "c", "why": "the softmax runs over the keys."}}
    (folder / "support" / "predictions.json").write_text(json.dumps(question))
    notebooks = Notebooks(folder, folder / "support")
    for choice, printed in (
        ("", "write a letter between the quotes: a, b, c\n"),
        ("b", "✗ not b; think again\n"),
        ("c", "✓ c: the softmax runs over the keys.\n"),
        ("C", "predict('1.2', 'C'): expected one of the letters a, b, c\n"),
    ):
        notebooks.predict("1.2", choice)
        assert capsys.readouterr().out == printed
    notebooks.predict("9.9", "a")
    assert "expected a task with a question" in capsys.readouterr().out


COLAB = """
import sys, types
import IPython

def run(magic, line):
    sys.exit(f"%{magic} {line}")

sys.modules["google"] = types.ModuleType("google")
sys.modules["google.colab"] = types.ModuleType("google.colab")
sys.modules["google.colab"].drive = types.SimpleNamespace(mount=lambda place: print("mounted", place))
IPython.get_ipython = lambda: types.SimpleNamespace(run_line_magic=run)
"""


def test_on_colab_the_first_cell_finds_the_folder_and_installs_what_is_missing(tmp_path) -> None:
    drive, elsewhere = tmp_path / "drive", tmp_path / "content"
    drive.mkdir()
    elsewhere.mkdir()
    shutil.copy(ROOT / "notebooks" / "course.py", drive)
    (drive / "requirements.txt").write_text("numpy~=1.0\nnowhere_to_be_found~=1.0\n")  # a numpy there is left alone
    for number in ("1_building_blocks", "3_training_and_translation"):
        cell = cells_of(RELEASED, f"{number}.ipynb")[f"setup_{number.replace('_', '-')}"]["source"]
        code = COLAB + cell.replace("/content/drive/MyDrive/notebooks", str(drive))
        done = subprocess.run([sys.executable, "-c", code], cwd=elsewhere, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == ("mounted /content/drive\n", "%pip install -q nowhere_to_be_found~=1.0\n")


@pytest.mark.slow
def test_from_todo_to_all_points(notebooks, history, course, capsys) -> None:
    assert notebooks.check("1.1", seed=7) == 0
    printed = capsys.readouterr().out
    assert re.match(r"✗ 1.1 Input embedding: 0 of \d+ tests pass, 0 of 4 points\n\nTODO 1.1: create", printed)
    assert 'check("1.1", seed=7)' in printed and "as you have last run or saved it" in printed
    history += ["import math", "from torch import Tensor, nn", solved(course, "InputEmbedding")]
    assert notebooks.check("1.1") == 4
    assert re.match(r"✓ 1.1 Input embedding: (\d+) of \1 tests pass, 4 of 4 points\n", capsys.readouterr().out)


@pytest.mark.slow
def test_a_fault_is_explained_and_located_and_a_wrong_result_is_drawn(notebooks, history, course, capsys) -> None:
    text = solved(course, "InputEmbedding")
    history += ["from torch import nn", text.replace("import math", "math = None").replace("* math.sqrt", "* nn.sqrt")]
    assert notebooks.check("1.1") < 4
    printed = capsys.readouterr().out
    line = 1 + history[-1].split("\n").index("        return self.table(tokens) * nn.sqrt(self.d_model)")
    assert "AttributeError: module 'torch.nn' has no attribute 'sqrt'" in printed
    assert f"this notebook, cell 2, line {line}: return self.table(tokens) * nn.sqrt(self.d_model)" in printed
    history += ["import torch", solved(course, "LayerNorm").replace("centred = x -", "x -= 1\n        centred = x -")]
    assert notebooks.check("1.4") == 8
    assert "got:      changed in place\n" in capsys.readouterr().out
    attention = solved(course, "scaled_dot_product_attention").replace("/ math.sqrt", "* math.sqrt")
    history += ["import math\nfrom torch import Tensor", attention]
    assert notebooks.check("1.2", seed=3) == 8.5, "only the scale is wrong"
    printed = capsys.readouterr().out
    assert printed.count("tests pass") == 1 and "perhaps for the same reason" in printed
    assert "  inputs:   query (" in printed
    assert re.search(r"\nexpected\[\d, \d, \d:, \d:\] +got\n( +-?\d\S*){4,8}\n", printed)


def test_answers_that_were_saved_elsewhere_are_imported_and_refreshed(notebooks, folder, history, course) -> None:
    norm = solved(course, "LayerNorm").replace("### BEGIN SOLUTION", "import torch")
    save(folder, "1_building_blocks.ipynb", "task_1_4_LayerNorm", norm)
    layers = importlib.import_module("student.layers")
    assert layers.LayerNorm(4).gamma.tolist() == [1, 1, 1, 1]
    with pytest.raises(NotImplementedError, match="TODO 1.5"):
        layers.FeedForward(4, 8)
    history += ["class FeedForward:\n    is_new = True\n"]
    notebooks.refresh()
    assert importlib.import_module("student.layers").FeedForward.is_new
    assert importlib.import_module("student.model").__name__ == "student.model"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("student.nothing")


def test_translations_are_read_as_in_grading(notebooks, folder, capsys) -> None:
    n_lines = len((ROOT / "data/corpus/fren.test.src.bpe").read_text().splitlines())
    for content, printed in (
        ("", "translations.txt does not exist yet"),
        ("a\n", f"✗ 4.1 BLEU, beginner: BLEU of at least 0.30\n\ntranslations.txt: 1 line, but there are {n_lines:,}"),
        ("a\n" * n_lines + "\n\n", "note: translations.txt: blank lines at the end are not counted (2)"),
    ):
        if content:
            (folder / "translations.txt").write_text(content)
        assert notebooks.check("4.1") == 0 and printed in capsys.readouterr().out


def test_a_cell_that_cannot_be_read_is_named_by_the_check(notebooks, folder, history, capsys) -> None:
    save(folder, "2_layers_and_model.ipynb", "task_2_1_EncoderLayer", "class EncoderLayer(nn.Module)\n    pass\n")
    history += ["class Decoder:\n  x = (", "print(", "class Encoder(\n", "class Encoder: pass"]
    history += ["class InputEmbedding(nn.Module):\n    x = ("]
    notebooks.check("1.1")
    printed = capsys.readouterr().out
    saved = "(task_2_1_EncoderLayer), which begins `class EncoderLayer(nn.Module)`"
    assert f"{saved}, cannot be read, so what it defines is missing (line 1: expected ':'" in printed
    assert "this notebook, cell 1, which begins `class Decoder:`, cannot be read" in printed
    assert printed.count("cannot be read") == 2, "experiments, and what was run again since, are not"
    assert "SyntaxError: this notebook, cell 5, line 2: '(' was never closed" in printed
    assert printed.count("this notebook, cell 5") == 1
    assert "raise SyntaxError" not in printed


def test_an_answer_that_waits_for_input_is_told_so(notebooks, history, course, capsys) -> None:
    norm = solved(course, "LayerNorm").replace("centred = x -", "input('go on? ')\n        centred = x -")
    history += ["import torch\nfrom torch import Tensor, nn", norm]
    assert notebooks.check("1.4") < 10
    assert "EOFError: nobody can answer input() while code is tested" in capsys.readouterr().out


def test_what_is_saved_and_what_was_run_may_differ(notebooks, folder, history, course, capsys) -> None:
    """Then the note says which counts: a second definition, a name that is gone."""
    name = "task_1_4_LayerNorm"
    history += ["import torch\nfrom torch import Tensor, nn", solved(course, "LayerNorm")]
    assert notebooks.check("1.4") == 10
    assert "note" not in capsys.readouterr().out
    path = folder / "1_building_blocks.ipynb"
    content = json.loads(path.read_text())
    cell = next(cell for cell in content["cells"] if cell["id"] == name)
    copied = {**cell, "id": "copied", "metadata": {}}
    for cells, note in (
        (
            [cell, copied],
            r"saved: LayerNorm is defined in .*, cell 1 \(task_1_4_LayerNorm\) and in .*, cell 2: the one in",
        ),
        ([{**cell, "cell_type": "markdown"}], "saved: no cell defines LayerNorm: not attempted"),
    ):
        path.write_text(json.dumps({**content, "cells": cells}))
        assert notebooks.check("1.4") == 10
        assert re.search(note, capsys.readouterr().out)


def test_an_answer_that_passes_by_what_is_in_the_kernel_alone_is_told_so(
    notebooks, folder, history, course, capsys
) -> None:
    """A helper whose cell was deleted, and code that was changed after it ran: what is saved is graded."""
    name, right = "task_1_4_LayerNorm", solved(course, "LayerNorm")
    with_helper = right.replace("torch.sqrt(", "root(")
    helper = "def root(x):\n    return half(x)"
    history += ["import torch\nfrom torch import Tensor, nn", "def half(x):\n    return x**0.5", helper, with_helper]
    for saved, note in (
        (with_helper, "saved: LayerNorm needs half, root, which no saved cell defines; save (Ctrl-S), or write it"),
        (f"{helper}\n\n\n{with_helper}", "saved: LayerNorm needs half, which no saved cell defines;"),
        (right, "saved: its LayerNorm is not what was tested; save it (Ctrl-S), or run its cell again"),
        (f"def half(x):\n    return x**0.5\n{helper}\n{with_helper}", ""),
    ):
        save(folder, "1_building_blocks.ipynb", name, saved)
        assert notebooks.check("1.4") == 10
        printed = capsys.readouterr().out
        assert note in printed if note else "note, once" not in printed
    history.append(right.replace("+ self.beta", ""))
    assert notebooks.check("1.4") < 10
    assert "note, once" not in capsys.readouterr().out


def test_a_number_may_stand_for_its_text(notebooks, capsys) -> None:
    notebooks.check(1.4)
    assert "1.4 Layer normalisation" in capsys.readouterr().out


def test_a_check_that_is_stopped_says_where(notebooks, history) -> None:
    """An infinite loop, which the student interrupts."""
    history.append(
        "from torch import nn\nclass LayerNorm(nn.Module):\n    def __init__(self, d_model, epsilon=0):\n"
        "        raise KeyboardInterrupt"
    )
    with pytest.raises(UserError, match=r"check\('1.4'\) was stopped in this notebook, cell 1, line 4: raise Keyb"):
        notebooks.check("1.4")


@pytest.mark.parametrize("case", CHECKED.values(), ids=CHECKED)
def test_what_a_check_prints_of_cells(notebooks, history, capsys, case) -> None:
    history += case["cells"]
    notebooks.check(case["check"])
    printed = capsys.readouterr().out
    assert all(words in printed for words in case.get("printed", ()))
    assert "not_printed" not in case or case["not_printed"] not in printed


def test_bad_input_is_named_without_a_traceback(notebooks, folder) -> None:
    message = r"there is no task '1\.9'; the tasks are 1\.1, 1\.2"
    with pytest.raises(UserError, match=message) as raised:
        notebooks.check("1.9")
    [shown] = raised.value._render_traceback_()  # by IPython
    assert re.match(message, shown)
    (folder / "9_mine.ipynb").write_text("{")
    with pytest.raises(IntakeError, match="9_mine.ipynb: not a complete notebook"):
        notebooks.check("1.1")


@pytest.mark.slow
def test_the_archive_has_few_files_and_its_wheel_is_used_installed_or_not(course, tmp_path, monkeypatch) -> None:
    assert len(course.release) < 60  # and one for updates
    write_all(course.release, tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    assert (tmp_path / "requirements.txt").read_text().endswith(f"\n./{wheel.name}\n")
    ask = [sys.executable, "-c", "import course, autograder; print(autograder.__file__)"]
    installed = tmp_path.with_name("installed")
    for place, path in ((installed, str(installed)), (tmp_path / "support" / wheel.name.partition("-py3")[0], "")):
        shutil.unpack_archive(wheel, installed, "zip")
        monkeypatch.setenv("PYTHONPATH", path)
        done = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert Path(done.stdout.strip()).parents[1] == place and place.exists()
        assert len([*(tmp_path / "support").glob("assignment_kit-*")]) == (place != installed)
