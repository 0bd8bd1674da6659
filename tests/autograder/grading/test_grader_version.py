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
    for room in (*ROOMS, "autograder/reports", "autograder/classroom", "autograder/commands", "reference", "student"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "REFERENCE", tmp_path / "reference")
    return tmp_path


def version(root: Path, also: tuple[str, ...] = (), **limits: float) -> str:
    assignment = read_assignment()
    assignment = replace(assignment, limits=replace(assignment.limits, **limits))
    return grader_version(assignment, root / "student", root / "references.bpe", also)


DECIDING = (
    "foundation/watchdog.py",
    "autograder/assignment/tests/pytest.ini",
    "autograder/assignment/tests/test_given.py",
    "autograder/diagnosis/matching.py",
    "autograder/assignment/misconceptions/attention.toml",
    "autograder/sandbox/worker/service.py",
    "reference/layers.py",
    "student/layers.py",
)


def test_what_decides_marks_or_their_explanation_changes_it(copy):
    before = version(copy)
    for path in DECIDING:
        text = (copy / path).read_text()
        (copy / path).write_text(text + "\n")
        assert version(copy) != before, path
        (copy / path).write_text(text)
        assert version(copy) == before


def test_pages_and_commands_do_not_change_it(copy):
    before = version(copy)
    for path in ("reports/class_summary.py", "classroom/grading.py", "commands/grade.py"):
        (copy / "autograder" / path).write_text("")
        assert version(copy) == before, path


def test_further_rooms_and_files_change_it_where_they_are_named(copy):
    also = ("autograder/commands", "autograder/reports/excerpts.py")
    before, plain = version(copy, also), version(copy)
    for path in ("commands/grade.py", "reports/excerpts.py"):
        (copy / "autograder" / path).write_text("")
        assert version(copy, also) != before, path
        before = version(copy, also)
    (copy / "autograder" / "reports" / "class_summary.py").write_text("")
    assert version(copy, also) == before and version(copy) == plain
    with pytest.raises(FileNotFoundError, match=r"nowhere\.py"):
        version(copy, ("autograder/nowhere.py",))


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


def changed_file(tmp_path, old: str, new: str):
    text = ASSIGNMENT_FILE.read_text()
    assert old in text
    path = tmp_path / "assignment.toml"
    path.write_text(text.replace(old, new, 1))
    return read_assignment(path)


@pytest.mark.parametrize(
    "old, new, is_weighed_anew",
    [
        ("points = 14", "points = 15", True),
        ("beginner = 0.30", "beginner = 0.31", True),
        ('credit = "items"', 'credit = "all"', True),
        ('title = "Layer normalisation"', 'title = "LayerNorm"', True),
        ('due = ""', 'due = "on Monday"', False),
        ("# The assignment", "# Our assignment", False),
    ],
)
def test_what_outcomes_are_worth_needs_no_run(tmp_path, old, new, is_weighed_anew):
    before, after = read_assignment(), changed_file(tmp_path, old, new)
    versions = {grader_version(one, ROOT / "student", tmp_path / "references") for one in (before, after)}
    assert len(versions) == 1, "outcomes are the same"
    assert (weighting_of(before) != weighting_of(after)) == is_weighed_anew


@pytest.mark.parametrize(
    "old, new",
    [
        ("call_seconds = 5", "call_seconds = 4"),
        ('"model.Encoder", "model.Decoder"]', '"model.Decoder"]'),
        ('methods = ["encode"', 'methods = ["encode_all", "encode"'),
        ("classes = [", "classes = ['Bilinear',"),
        ('number = "1.5"', 'number = "1.6"'),
    ],
)
def test_what_decides_outcomes_needs_a_run(tmp_path, old, new):
    before, after = read_assignment(), changed_file(tmp_path, old, new)
    versions = {grader_version(one, ROOT / "student", tmp_path / "references") for one in (before, after)}
    assert len(versions) == 2
