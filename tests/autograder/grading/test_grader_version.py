"""The version of everything that decides marks changes with it, and with nothing else."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.grading import grader_version as module
from autograder.grading.grader_version import PACKAGES, ROOMS, grader_version, weighting_of
from foundation.assignment_file import read_assignment
from foundation.places import ASSIGNMENT_FILE, ROOT


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    """A copy of the project that the version is taken of."""
    for room in (*ROOMS, "reference", "student"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "REFERENCE", tmp_path / "reference")
    return tmp_path


def version(root: Path, **limits: float) -> str:
    assignment = read_assignment()
    assignment = replace(assignment, limits=replace(assignment.limits, **limits))
    return grader_version(assignment, root / "student", root / "references.bpe")


DECIDING = (
    "foundation/watchdog.py",
    "autograder/sources.py",
    "autograder/assignment/tests/pytest.ini",
    "autograder/assignment/tests/test_given.py",
    "autograder/diagnosis/explaining.py",
    "autograder/assignment/misconceptions/attention.toml",
    "autograder/sandbox/worker/service.py",
    "reference/layers.py",
    "student/layers.py",
)
FREE = ("autograder/reports/class_summary.py", "autograder/classroom/grading.py", "autograder/commands/grade.py")


def test_files_that_decide_marks_change_it_and_no_others(copy):
    before = version(copy)
    for path in (*DECIDING, *FREE):
        text = (copy / path).read_text()
        (copy / path).write_text(text + "\n")
        assert (version(copy) != before) == (path in DECIDING), path
        (copy / path).write_text(text)
    assert version(copy) == before
    (copy / "student" / "deep").mkdir()
    (copy / "student" / "masks.py").rename(copy / "student" / "deep" / "masks.py")
    assert version(copy) != before, "also where one moves"


def test_limits_references_and_packages_change_it(copy, monkeypatch):
    before = version(copy)
    assert version(copy, memory_mb=192) != before and "safetensors" in PACKAGES
    (copy / "references.bpe").write_text("a|||b\n")
    assert version(copy) != before
    (copy / "references.bpe").unlink()
    monkeypatch.setattr(module.platform, "python_version", lambda: "3.99.0")
    assert version(copy) != before


@pytest.mark.parametrize(
    "old, new, needs",
    [
        ("points = 14", "points = 15", "weighing"),
        ("beginner = 0.30", "beginner = 0.31", "weighing"),
        ('{ name = "masks", weight = 4', '{ name = "masks", weight = 5', "weighing"),
        ('credit = "items"', 'credit = "all"', "weighing"),
        ('title = "Layer normalisation"', 'title = "LayerNorm"', "weighing"),
        ('due = ""', 'due = "on Monday"', "nothing"),
        ("# The assignment", "# Our assignment", "nothing"),
        ("call_seconds = 5", "call_seconds = 4", "a run"),
        ('"model.Encoder", "model.Decoder"]', '"model.Decoder"]', "a run"),
        ('methods = ["encode"', 'methods = ["encode_all", "encode"', "a run"),
        ("classes = [", "classes = ['Bilinear',", "a run"),
        ('number = "1.5"', 'number = "1.7"', "a run"),
    ],
)
def test_what_a_change_of_the_assignment_needs(tmp_path, old, new, needs):
    text = ASSIGNMENT_FILE.read_text()
    assert old in text
    path = tmp_path / "assignment.toml"
    path.write_text(text.replace(old, new, 1))
    both = read_assignment(), read_assignment(path)
    versions = {grader_version(one, ROOT / "student", tmp_path / "references") for one in both}
    assert (len(versions) == 2) == (needs == "a run"), "outcomes may be others"
    if needs != "a run":
        assert len({weighting_of(one) for one in both}) == (2 if needs == "weighing" else 1)
