"""A student's own run of the component tests, on the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_short_cut_is_found_as_it_is_when_graded(tmp_path):
    text = (ROOT / "reference" / "layers.py").read_text()
    assert text.count("        self.gamma = ") == 1
    borrowed = "        self.norm = nn.LayerNorm(d_model)\n"
    (tmp_path / "layers.py").write_text(text.replace("        self.gamma = ", borrowed + "        self.gamma = "))
    tests = ["-c", "autograder/tests/pytest.ini", "autograder/tests", "-m", "task_1_4 or task_1_5", "-q"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *tests, "--submission", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "LayerNorm (layers.py) uses torch.nn.LayerNorm" in done.stdout and borrowed.strip() in done.stdout
    assert done.stdout.startswith("EEEEEEEEEEEEE.......") and "13 errors" in done.stdout
