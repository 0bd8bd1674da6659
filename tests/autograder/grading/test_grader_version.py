"""The version of everything that decides marks changes with it, and with nothing else."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.grading import grader_version as module
from autograder.grading.grader_version import PACKAGES, ROOMS, grader_version
from foundation.assignment_file import read_assignment
from foundation.places import ROOT


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    """A copy of the project that the version is taken of."""
    for room in (*ROOMS, "autograder/reports", "autograder/classroom", "autograder/commands", "reference", "student"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "REFERENCE", tmp_path / "reference")
    return tmp_path


def version(root: Path, **limits: float) -> str:
    assignment = read_assignment()
    assignment = replace(assignment, limits=replace(assignment.limits, **limits))
    return grader_version(assignment, root / "student", root / "references.bpe")


@pytest.mark.parametrize(
    "path",
    [
        "foundation/watchdog.py",
        "autograder/assignment/tests/pytest.ini",
        "autograder/assignment/tests/test_given.py",
        "autograder/diagnosis/matching.py",
        "autograder/assignment/misconceptions/attention.toml",
        "autograder/sandbox/worker/service.py",
        "reference/layers.py",
        "student/layers.py",
    ],
)
def test_what_decides_marks_or_their_explanation_changes_it(copy, path):
    before = version(copy)
    assert before == version(copy)
    (copy / path).write_text((copy / path).read_text() + "\n")
    assert version(copy) != before


@pytest.mark.parametrize("path", ["reports/class_summary.py", "classroom/grading.py", "commands/grade.py"])
def test_pages_and_commands_do_not_change_it(copy, path):
    before = version(copy)
    (copy / "autograder" / path).write_text("")
    assert version(copy) == before


def test_limits_references_moves_and_packages_change_it(copy, monkeypatch):
    before = version(copy)
    assert version(copy, memory_mb=192) != before
    (copy / "references.bpe").write_text("a|||b\n")
    assert version(copy) != before
    (copy / "references.bpe").unlink()
    (copy / "student" / "deep").mkdir()
    (copy / "student" / "masks.py").rename(copy / "student" / "deep" / "masks.py")
    assert version(copy) != before
    (copy / "student" / "deep" / "masks.py").rename(copy / "student" / "masks.py")
    assert version(copy) == before
    assert "safetensors" in PACKAGES
    monkeypatch.setattr(module.platform, "python_version", lambda: "3.99.0")
    assert version(copy) != before


def test_a_room_that_has_moved_is_no_silent_gap(copy):
    (copy / "autograder" / "rules").rename(copy / "autograder" / "laws")
    with pytest.raises(FileNotFoundError, match="rules"):
        version(copy)
