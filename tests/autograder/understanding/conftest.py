"""One grader for all tests, and submissions made from the reference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from autograder.grading.launcher import open_grader
from autograder.grading.seeds import Seeds
from autograder.intake import Intake, take_in
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE, SKELETON

if TYPE_CHECKING:
    from autograder.grading.judging import Grader
    from autograder.understanding.drawing import Examiner

ASSIGNMENT = read_assignment()


def write_submission(folder: Path, modules=("attention", "layers"), *, changes=(), text=None) -> Path:
    """Some of the reference's files, with changes: module, old text, new text."""
    folder.mkdir()
    for module in modules:
        content = (REFERENCE / f"{module}.py").read_text(encoding="utf-8")
        for name, old, new in changes:
            if name == module:
                assert content.count(old) == 1, old
                content = content.replace(old, new)
        (folder / f"{module}.py").write_text(content, encoding="utf-8")
    return folder


def taken_in(path: Path) -> Intake:
    return take_in(path, SKELETON, ASSIGNMENT)


@pytest.fixture(scope="session")
def grader(tmp_path_factory) -> Iterator[Grader]:
    with open_grader(ASSIGNMENT, tmp_path_factory.mktemp("none") / "none") as grader:
        yield grader


@pytest.fixture(scope="session")
def examiner(grader) -> Iterator[Examiner]:
    from autograder.understanding.drawing import open_examiner

    with open_examiner(grader, Seeds(b"a secret")) as examiner:
        yield examiner


@pytest.fixture(scope="session")
def right(tmp_path_factory) -> Intake:
    """The attention and nothing else, as the reference has it."""
    return taken_in(write_submission(tmp_path_factory.mktemp("right") / "anna", ("attention",)))
