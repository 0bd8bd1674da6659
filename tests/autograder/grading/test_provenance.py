"""Every mark can be had again, no seed is foretold; what decides marks, and only that, changes the grader's version."""

import shutil
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.commands import arguments
from autograder.grading import provenance as module
from autograder.grading import submission
from autograder.grading.provenance import ROOMS, Seeds, grader_version, weighting_of
from autograder.grading.record import write_record
from autograder.grading.submission import open_grader
from autograder.testing.results import State
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

from ..conftest import SEEDS, changed_assignment, examples_in

EXAMPLES = examples_in("grading/changes.toml")


def test_a_seed_follows_from_the_secret_alone():
    """So the same mistake earns the same marks in every submission of a term."""
    seeds = Seeds(b"secret")
    assert seeds.of_tests == Seeds(b"secret").of_tests < 2**128
    assert len({seeds.of_tests, Seeds(b"other").of_tests, seeds.seed_of("questions")}) == 3
    assert Seeds(b"secret", fixed=7).of_tests == 7


@pytest.mark.slow
def test_a_disputed_mark_is_graded_again(tmp_path, graded, class_folder, zygote, references, monkeypatch, capsys):
    folder, path = class_folder / "attention only", tmp_path / "anna.json"
    record = graded("attention only")
    write_record(path, record)
    monkeypatch.setattr(arguments, "seeds_of_term", lambda root, fixed: Seeds(SEEDS.secret, fixed))
    monkeypatch.setattr(submission, "open_grader", lambda *arguments: open_grader(*arguments, zygote))

    def grade(*more: str) -> str:
        options = ["--against", str(path), "--references", str(references), "--results", str(tmp_path / "r.json")]
        assert main(["grade", str(folder), *options, *more]) in (0, 1)
        return capsys.readouterr().out

    printed = grade()
    assert "the marks are those of" in printed and "other files" not in printed and "seal" not in printed
    parts = list(record.judgement.parts)
    parts[3] = parts[3].changed(state=State.PASSED, score=10.0)
    write_record(path, record.changed(judgement=record.judgement.changed(parts=tuple(parts), content_hash="0" * 64)))
    printed = grade("--seed", "7")
    assert "is about other inputs (name its --seed)" in printed
    assert "1.4 Layer normalisation: 10 → 0 (passed → not attempted)" in printed
    assert "is about other files" in printed and "its seal does not fit" in printed


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    """A copy of the project that the version is taken of."""
    for room in (*ROOMS, "reference", "student"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "REFERENCE", tmp_path / "reference")
    return tmp_path


def version(root: Path) -> str:
    return grader_version(read_assignment(), root / "student", root / "references.bpe")


def test_files_that_decide_marks_change_it_and_no_others(copy):
    before = version(copy)
    for path in EXAMPLES["deciding"] + EXAMPLES["free"]:
        text = (copy / path).read_text()
        (copy / path).write_text(f"{text}\nchanged = 1\n")
        assert (version(copy) != before) == (path in EXAMPLES["deciding"]), path
        (copy / path).write_text(text)
    assert version(copy) == before
    (copy / "references.bpe").write_text("a|||b\n")
    assert version(copy) != before


@pytest.mark.parametrize("old, new", [('"""', '"""Mended. '), ("# TODO", "# mended\n        # TODO")])
def test_a_mended_text_of_the_reference_or_the_skeleton_changes_no_version(copy, old, new):
    before = version(copy)
    for path in (copy / "reference" / "layers.py", copy / "student" / "layers.py"):
        text = path.read_text()
        path.write_text(text.replace(old, new, 1))
        assert path.read_text() != text and version(copy) == before


@pytest.mark.parametrize("change", EXAMPLES["changes"], ids=lambda change: change["new"])
def test_what_a_change_of_the_assignment_needs(tmp_path, change):
    changed = changed_assignment(tmp_path / "assignment.toml", (change["old"], change["new"]))
    both, needs = (read_assignment(), read_assignment(changed)), change["needs"]
    versions = {grader_version(assignment, ROOT / "student", tmp_path / "references") for assignment in both}
    assert (len(versions) == 2) == (needs == "a run"), "outcomes may be others"
    if needs != "a run":
        assert len({weighting_of(assignment) for assignment in both}) == (2 if needs == "weighing" else 1)
