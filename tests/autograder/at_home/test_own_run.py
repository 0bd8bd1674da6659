"""A student's own run of the component tests, on the command line."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.at_home import own_run
from foundation.assignment_file import read_assignment
from foundation.places import ROOT
from foundation.processes import run_forked

pytestmark = pytest.mark.slow

TELLS_OF_CI = {"CI", "BUILD_NUMBER"}
"""Where one of these variables is set, pytest repeats each message in its summary, all lines of it."""

BLEU = "task_4_1", "task_4_2"
TESTS = ["-p", "no:cacheprovider", "-c", "assignment/tests/pytest.ini", "assignment/tests", "-q"]
IN_A_FORK = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
"""Nothing is said of modules that are there already."""


def run_on(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Runs pytest in a fork of this process, which need not load PyTorch once more."""

    def run(output: Path) -> Iterator[int]:
        os.chdir(ROOT)
        [os.environ.pop(name, "") for name in TELLS_OF_CI]
        with output.open("w") as sys.stdout, Path(os.devnull).open() as sys.stdin:
            sys.stderr = sys.stdout
            yield int(pytest.main([*TESTS, *IN_A_FORK, *flags, "--submission", str(folder)]))

    with tempfile.NamedTemporaryFile() as output:
        (_, status), _ = run_forked([Path(output.name)], run, 120)
        return subprocess.CompletedProcess(flags, status, output.read().decode())


def run_tests(folder: Path, changes: dict[str, str], *flags: str, status: int = 1) -> str:
    """Run the tests on the reference's layers with some changes; return the output."""
    text = (ROOT / "reference" / "layers.py").read_text()
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "layers.py").write_text(text)
    done = run_on(folder, *flags)
    assert done.returncode == status, done.stdout
    return done.stdout


CHANGES = {
    "self.gamma = ": "nn.LayerNorm(d_model), self.forward.__globals__\n        self.gamma = ",
    "centred = x -": "x -= 1\n        centred = x -",
    "return self.contract(": "self.contract(",
}


@pytest.fixture(scope="module")
def output(tmp_path_factory) -> str:
    """Of a run on several tasks, in each of which something else is wrong."""
    return run_tests(tmp_path_factory.mktemp("wrong"), CHANGES, "-m", "task_1_2 or task_1_4 or task_1_5")


def test_a_short_cut_is_noted(output):
    assert re.search(r"line \d+: torch\.nn\.LayerNorm; grading refuses it here, and LayerNorm then earns", output)
    assert re.search(r"to be read by a person when graded: \.__globals__ in layers\.py, line \d+: nn\.Lay", output)
    assert output.count("to be read by a person") == 1


def test_the_end_says_what_is_earned_and_what_is_missing(output):
    assert "1.2 Scaled dot-product attention: still to be written: TODO 1.2: compute" in output
    points = "8 of 10 points here, and none when graded: see the note below; missing: no side effects (2)"
    assert f"1.4 Layer normalisation: {points}" in output
    assert "Skipped" not in output and len(output.splitlines()) < 35
    assert "got:      changed in place\n" in output and output.count("look at:") == 2


def test_a_missing_return_is_one_message(output):
    assert output.count("None (is a return missing?)") == 1 and "During handling" not in output
    assert re.search(r"\n2 failed, .* deselected, .* more failed", output)


def test_of_a_half_written_task_the_rest_is_named_and_a_wrong_mask_is_drawn(tmp_path):
    text = (ROOT / "student" / "masks.py").read_text()
    asked, todo = text.partition("which keys may a query see")[::2]
    todo = todo.replace('raise NotImplementedError("TODO 1.6")', "return torch.ones(length, length).triu().bool()", 1)
    todo += "\n\ndef diagonal_mask(*given, **named):\n    pass\n"
    (tmp_path / "masks.py").write_text(f"{asked}which keys may a query see{todo}")
    lines = run_on(tmp_path, "-m", "task_1_6 or task_e_1").stdout.splitlines()
    assert "E     got:      True at [0, 1]; 42 of 49 cells are different" in lines
    assert "E     observed: rows and columns are swapped" in lines
    [drawn] = [index for index, line in enumerate(lines) if line.startswith("expected[0:, 0:]")]
    assert [line.split() for line in lines[drawn + 1 : drawn + 3]] == [[*"10001111"], [*"11000111"]]
    assert any(line.startswith("- still to be written: TODO 1.6: which keys are words?") for line in lines)
    assert "E     got:      None (is a return missing?)" in lines, "the type of no tensor is left out"


def test_the_skeletons_run_fits_one_screen():
    done = run_on(ROOT / "student")
    lines = done.stdout.splitlines()
    tasks = [line for line in lines if "still to be written: TODO" in line]
    assert (
        done.returncode == 1
        and len(lines) < 40
        and len(tasks) == len([t for t in read_assignment().tasks if not t.by_hand and t.marker not in BLEU])
    )
    assert all(len(line) <= 80 for line in tasks)


RIGHT, WRONG = (f"return self.contract(torch.relu(self.{name}(x)))" for name in ("expand", "contract"))


def test_of_an_error_the_students_own_lines_are_shown_and_the_debugger_stops_there(tmp_path):
    output = run_tests(tmp_path, {RIGHT: WRONG}, "-m", "task_1_5", "-x", "--pdb", status=2)
    assert f"-> {WRONG}\n(Pdb)" in output
    test, student, error = map(output.index, ("test_1_5_feed_forward.py:", "layers.py:", "E   RuntimeError"))
    assert test < student < error and WRONG in output[student:error]
    assert "torch/nn" not in output and "autograder/testing" not in output and "collection.py" not in output
    assert "torch/nn" in run_tests(tmp_path, {RIGHT: WRONG}, "-m", "task_1_5", "-x", "--full-trace")


def test_each_failed_version_is_an_attempt_though_few_tests_have_run(tmp_path, monkeypatch):
    folder = shutil.copytree(ROOT / "student", tmp_path / "student")
    monkeypatch.setattr(own_run, "released_folder", lambda: folder)
    monkeypatch.setattr(own_run, "read_hints", lambda folder: {"1.5": []})
    text = (ROOT / "reference" / "layers.py").read_text()
    (tmp_path / ".attempts.json").write_text('{"1.5": ["an earlier version"]}')
    for number, picked in enumerate((["-x", "-k", "test_maps"], []), start=2):
        (folder / "layers.py").write_text(text.replace("self.contract(torch", f"{number} * self.contract(torch"))
        done = run_on(folder, "-m", "task_1_5", *picked)
        attempts = json.loads((tmp_path / ".attempts.json").read_text())["1.5"]
        assert (len(attempts), "perhaps there is a hint: " in done.stdout) == (number, number == 3), done.stdout
