"""A student's own run of the component tests, on the command line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from foundation.assignment_file import read_assignment
from foundation.places import ROOT

pytestmark = pytest.mark.slow

TELLS_OF_CI = {"CI", "BUILD_NUMBER"}
"""Where one of these variables is set, pytest repeats each message in its summary, all lines of it."""


def run_on(folder: Path, *flags: str) -> subprocess.CompletedProcess:
    tests = ["-c", "autograder/assignment/tests/pytest.ini", "autograder/assignment/tests", "-q", *flags]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests, "--submission", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name not in TELLS_OF_CI}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def run_tests(folder: Path, old: str, new: str, *flags: str) -> str:
    """What a student reads whose layers are the reference's but for one place."""
    text = (ROOT / "reference" / "layers.py").read_text()
    assert text.count(old) == 1
    (folder / "layers.py").write_text(text.replace(old, new))
    done = run_on(folder, *flags)
    assert done.returncode == (2 if "--pdb" in flags else 1), done.stdout
    return done.stdout


def test_a_short_cut_is_noted(tmp_path):
    borrowed = "        self.norm = nn.LayerNorm(d_model)\n"
    (tmp_path / "layers.py").write_text(
        (ROOT / "reference" / "layers.py")
        .read_text()
        .replace("        self.gamma = ", borrowed + "        self.gamma = ")
    )
    said = run_on(tmp_path, "-m", "task_1_5").stdout
    assert re.search(r"note: layers\.py, line \d+: nn\.LayerNorm; grading refuses a task that uses it\n", said)


def test_the_end_says_what_is_earned_and_what_is_missing(tmp_path):
    path = ROOT / "reference" / "layers.py"
    (tmp_path / "layers.py").write_text(path.read_text().replace("centred = x -", "x -= 1\n        centred = x -"))
    said = run_on(tmp_path, "-m", "task_1_2 or task_1_4").stdout
    assert "1.2 Scaled dot-product attention: still to be written: TODO 1.2: compute" in said
    assert "1.4 Layer normalisation: 9 of 10 points; missing: no side effects (1)" in said
    assert "Skipped" not in said and len(said.splitlines()) < 25
    assert re.search(r"changed in place by layers\.py, line \d+: x -= 1\n", said) and said.count("look at:") == 1


def test_the_skeletons_run_fits_one_screen():
    done = run_on(ROOT / "student")
    lines = done.stdout.splitlines()
    tasks = [line for line in lines if "still to be written: TODO" in line]
    assert done.returncode == 1 and len(lines) < 40 and len(tasks) == len(read_assignment().tasks) - 2
    assert all(len(line) <= 80 for line in tasks)


def test_a_missing_return_is_one_message(tmp_path):
    said = run_tests(tmp_path, "return self.contract(", "self.contract(", "-m", "task_1_5")
    assert said.count("None (is a return missing?)") == 1 and "During handling" not in said
    assert re.search(r"\n1 failed, \d+ deselected, \d+ for the same reason", said)


WRONG_ERROR = "return self.contract(torch.relu(self.expand(x)))", "return self.contract(torch.relu(self.contract(x)))"
WRONG_VALUE = "return self.contract(torch.relu(self.expand(x)))", "return self.contract(torch.tanh(self.expand(x)))"


def test_of_an_error_the_students_own_lines_are_shown(tmp_path):
    said = run_tests(tmp_path, *WRONG_ERROR, "-m", "task_1_5", "-x")
    test, student, error = map(said.index, ("test_1_5_feed_forward.py:", "layers.py:", "E   RuntimeError"))
    assert test < student < error and WRONG_ERROR[1] in said[student:error]
    assert "torch/nn" not in said and "checking/" not in said and "in_process.py" not in said
    assert "torch/nn" in run_tests(tmp_path, *WRONG_ERROR, "-m", "task_1_5", "-x", "--full-trace")


def test_of_a_wrong_value_the_message_is_shown_and_not_our_code(tmp_path):
    said = run_tests(tmp_path, *WRONG_VALUE, "-m", "task_1_5", "-x")
    assert "expected:" in said and "got:" in said and "look at:" in said
    assert "comparison.py" not in said and "in_process.py" not in said and len(said.splitlines()) < 28


def test_the_debugger_stops_in_the_students_code(tmp_path):
    said = run_tests(tmp_path, *WRONG_ERROR, "-m", "task_1_5", "-x", "--pdb")
    assert f"-> {WRONG_ERROR[1]}\n(Pdb)" in said


def test_files_are_read_as_in_grading(tmp_path):
    text = (ROOT / "reference" / "layers.py").read_text()
    (tmp_path / "layers.py").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    done = run_on(tmp_path, "-m", "task_1_5")
    assert done.returncode == 0, done.stdout
    (tmp_path / "layers.py").write_bytes(text.encode() + "# caf\xe9\n".encode("latin-1"))
    done = run_on(tmp_path, "-m", "task_1_5")
    where = f"layers.py: it is not UTF-8 text (byte 0xe9 in line {text.count(chr(10)) + 1}); save it as UTF-8"
    assert done.returncode == 2 and where in done.stdout and "Traceback" not in done.stdout + done.stderr
    assert len(done.stdout.splitlines()) < 5
