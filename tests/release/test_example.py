"""The example assignment goes through the engine where it lies: proof and grading.

`docs/how-to/another-assignment.md` is written along it; `tests/project/test_recipes.py` releases it as that page says.
"""

import shutil
from pathlib import Path

import pytest

from autograder.__main__ import main as autograder
from autograder.grading.record import read_record
from release.gates import write_all
from validity.__main__ import main as validity

from .conftest import EXAMPLE

REFERENCE = EXAMPLE / "reference"
CHOSEN = ["--assignment", str(EXAMPLE / "assignment")]


def hand_in(folder: Path, old: str = "", new: str = "") -> None:
    """Writes the reference as a submission, with a change in its affine map."""
    shutil.copytree(REFERENCE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "affine.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.slow
def test_the_tests_find_every_fault_and_accept_every_variant(capsys):
    assert validity(["prove", *CHOSEN, "--reference", str(REFERENCE), "--seeds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "variants: 3, wrongly rejected: 0" in printed


@pytest.mark.slow
@pytest.mark.usefixtures("fixed_secret")
def test_a_class_is_graded_in_the_sandbox_and_told_what_is_wrong(tmp_path, skeleton):
    for name, change in {
        "anna": (),
        "bob": ("x @ self.weight + self.bias", "x @ self.weight"),
        "eve": ("x @ self.weight + self.bias", "torch.nn.functional.linear(x, self.weight.T, self.bias)"),
        "dan": ("x @ self.weight + self.bias", "getattr(torch._C._nn, 'lin' + 'ear')(x, self.weight.T, self.bias)"),
    }.items():
        hand_in(tmp_path / "class" / name, *change)
    release = tmp_path / "student"
    for folder in (release, tmp_path / "class" / "finn"):
        write_all(skeleton.files, folder)
    marks = ["--output", str(tmp_path / "marks"), "--release", str(release), "--seed", "1", "--jobs", "1"]
    assert autograder(["grade-class", str(tmp_path / "class"), *CHOSEN, *marks]) == 0
    records = {path.stem: read_record(path) for path in (tmp_path / "marks" / "records").iterdir()}
    states = {name: [str(part.state) for part in record.judgement.parts] for name, record in records.items()}
    assert states == {
        "anna": ["passed"] * 3,
        "bob": ["failed", "passed", "passed"],
        "eve": ["refused", "passed", "passed"],
        "dan": ["refused", "passed", "passed"],
        "finn": ["not attempted"] * 3,
    }
    [diagnosis] = [part.diagnosis for part in records["bob"].judgement.parts if part.diagnosis]
    assert diagnosis.fault == "affine-no-bias" and "What is the output for x = 0?" in diagnosis.text
