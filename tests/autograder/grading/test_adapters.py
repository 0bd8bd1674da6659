"""A package with names and files of its own is judged through `adapters.py`: the layout of another course."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.intake import take_in
from autograder.testing.results import State
from foundation.assignment_file import read_assignment
from foundation.places import ROOT, SKELETON

LAYOUT = Path(__file__).parent / "single_file"
PASSED = {"1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2"}
"""What it has and does right."""


def test_intake_takes_the_files_of_another_layout():
    intake = take_in(LAYOUT, SKELETON, read_assignment())
    assert {path.stem for path in LAYOUT.glob("*.py")} <= intake.sources.keys()
    assert not any("ignored" in note for note in intake.notes)


@pytest.mark.slow
def test_another_layout_is_graded(grade_folder):
    record = grade_folder(LAYOUT)
    assert {part.number for part in record.judgement.parts if part.state == State.PASSED} == PASSED


@pytest.mark.slow
def test_a_student_runs_the_same_tests():
    command = ["-c", "autograder/assignment/tests/pytest.ini", "--rootdir", ".", "--submission", LAYOUT]
    ran = subprocess.run([sys.executable, "-m", "pytest", *command, "-q", "-m", "task_1_4"], cwd=ROOT, check=False)
    assert ran.returncode == 0
