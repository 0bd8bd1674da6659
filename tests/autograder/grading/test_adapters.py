"""Packages with names and files of their own are judged through `adapters.py`: three layouts of other courses."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.intake import take_in
from autograder.testing.results import State
from foundation.assignment_file import read_assignment
from foundation.places import ROOT, SKELETON

LAYOUTS = Path(__file__).parent / "adapters"
PASSED = {  # what each layout has and does right
    "single_file": {"1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2"},
    "pre_norm": {"1.4", "1.5"},
    "fused": {"1.2", "1.3"},
}


@pytest.mark.parametrize("layout", PASSED)
def test_intake_takes_the_files_of_another_layout(layout):
    intake = take_in(LAYOUTS / layout, SKELETON, read_assignment())
    own = {
        ".".join(path.relative_to(LAYOUTS / layout).with_suffix("").parts) for path in (LAYOUTS / layout).rglob("*.py")
    }
    assert {name.removesuffix(".__init__") for name in own} <= intake.sources.keys()
    assert not any("ignored" in note for note in intake.notes)


@pytest.mark.slow
@pytest.mark.parametrize("layout", PASSED)
def test_another_layout_is_graded(layout, grade_folder):
    record = grade_folder(LAYOUTS / layout)
    assert {part.number for part in record.judgement.parts if part.state == State.PASSED} == PASSED[layout]


@pytest.mark.slow
def test_a_student_runs_the_same_tests():
    command = ["-c", "autograder/assignment/tests/pytest.ini", "--rootdir", ".", "--submission", str(LAYOUTS / "fused")]
    ran = subprocess.run([sys.executable, "-m", "pytest", *command, "-q", "-m", "task_1_3"], cwd=ROOT, check=False)
    assert ran.returncode == 0
