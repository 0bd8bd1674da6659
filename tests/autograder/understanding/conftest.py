"""One grader for all tests, and submissions made from the reference."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from autograder.grading.seeds import Seeds
from autograder.grading.submission import open_grader
from autograder.intake import Intake, take_in
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON

from ..submissions import write_submission

if TYPE_CHECKING:
    from autograder.grading.judging import Grader
    from autograder.understanding.examiner import Examiner

ASSIGNMENT = read_assignment()


def taken_in(path: Path) -> Intake:
    return take_in(path, SKELETON, ASSIGNMENT)


@pytest.fixture(scope="session")
def grader(tmp_path_factory, zygote) -> Iterator[Grader]:
    with open_grader(ASSIGNMENT, tmp_path_factory.mktemp("none") / "none", zygote=zygote) as grader:
        yield grader


@pytest.fixture(scope="session")
def examiner(grader) -> Examiner:
    from autograder.understanding.examiner import Examiner

    return Examiner(grader, Seeds(b"a secret"))


@pytest.fixture(scope="session")
def right(tmp_path_factory) -> Intake:
    """The attention and nothing else, as the reference has it."""
    return taken_in(write_submission(tmp_path_factory.mktemp("right") / "anna", modules=("attention",)))
