"""A class of submissions, each graded once for all tests, and what single tests grade by themselves."""

import functools
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.classroom.entries import take_class
from autograder.classroom.grading import grade_all
from autograder.grading.record import Record, new_record
from autograder.grading.submission import Conditions, grade_submission, open_grader
from autograder.intake.submission import take_in
from foundation.assignment_file import Assignment
from foundation.places import SKELETON

from ..conftest import ASSIGNMENT, SEEDS, VERSION, examples_in, write_submission

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("attention only", "faulty", "trouble", "broken")]
CLASS = ["skeleton", "no archive.zip", *SLOW]
"""The submissions of the class, for tests of each of them."""
PERFECT = "".join(f"the cat number {i} sleeps on the mat .\n" for i in range(4))

PATCHES = examples_in("grading/patches.toml")


@pytest.fixture(scope="session")
def references(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("references") / "test.bpe"
    path.write_text("".join(f"a|||{line}\n" for line in PERFECT.splitlines()))
    return path


@pytest.fixture(scope="session")
def class_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    write_submission(folder / "faulty", *PATCHES["faults"].values())
    write_submission(folder / "trouble", *PATCHES["trouble"].values())
    write_submission(folder / "attention only", modules=("attention",))
    broken = write_submission(folder / "broken")
    (broken / "layers.py").write_text("def broken(:\n")
    (broken / "train.py").write_text("raise RuntimeError('oops')\n")
    shutil.copytree(SKELETON, folder / "skeleton", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "no archive.zip").write_bytes(b"not an archive")
    return folder


@pytest.fixture(scope="session")
def graded(zygote, references, class_folder, tmp_path_factory) -> Callable[[str], Record]:
    """The record of a submission in the class, which is graded when it is asked for first."""
    _, taken = take_class(class_folder, tmp_path_factory.mktemp("marks"), ASSIGNMENT)
    entries = {entry.entry: entry for entry in taken}

    @functools.cache
    def grade(name: str) -> Record:
        entry = entries[name]
        limits = replace(ASSIGNMENT.limits, call_seconds=1.5) if name == "trouble" else ASSIGNMENT.limits
        assignment = replace(ASSIGNMENT, limits=limits)
        conditions = Conditions(assignment, SKELETON, references, VERSION, SEEDS)
        records: list[Record] = []
        with open_grader(assignment, references, zygote=zygote) as grader:
            grade_all([entry], conditions, grader, lambda _, record: records.append(SEEDS.seal(record)))
        [record] = records
        return record

    return grade


@pytest.fixture
def grade_folder(zygote, references):
    def run(folder: Path, assignment: Assignment = ASSIGNMENT) -> Record:
        intake = take_in(folder, SKELETON, assignment)
        with open_grader(assignment, references, zygote=zygote) as grader:
            *_, record = grade_submission(intake, new_record(intake.name, assignment, VERSION), SEEDS, grader)
            return record

    return run
