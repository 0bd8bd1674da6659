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

from ..conftest import ASSIGNMENT, SEEDS, VERSION, write_submission

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("good", "faulty", "trouble", "broken")]
CLASS = ["attention only", "skeleton", "no archive.zip", *SLOW]
"""The submissions of the class, for tests of each of them."""
PERFECT = "".join(f"the cat number {i} sleeps on the mat .\n" for i in range(4))

FAULTS = {  # one for each of these tasks
    "1.1": ("embedding", "* math.sqrt(self.d_model)", ""),
    "1.2": ("attention", " / math.sqrt(query.size(-1))", ""),
    "1.3": ("attention", "split_heads(self.project_key(key))", "split_heads(self.project_key(query))"),
    "1.4": ("layers", "torch.sqrt(variance + self.epsilon)", "(torch.sqrt(variance) + self.epsilon)"),
    "1.5": ("layers", "torch.relu(self.expand(x))", "self.expand(x)"),
    "2.3": ("model", "            x, weights = layer(x, mask)\n", "            _, weights = layer(x, mask)\n"),
    "3.1": ("train", "        optimizer.zero_grad()\n", ""),
}
SLEEP = "        __import__('time').sleep(99)\n        centred = x - x.mean"
TROUBLE = (  # what ends a process, and what would end a terminal
    ("layers", "        centred = x - x.mean", SLEEP),
    ("layers", "torch.relu(self.expand(x))", "__import__('os')._exit(0)"),
    ("embedding", "* math.sqrt(self.d_model)", "@ torch.zeros(10**6, 10**6)"),
    ("train", "        optimizer.zero_grad()\n", "        raise KeyError('\\x1b[2J</pre><script>\\u202e' * 999)\n"),
)


def in_a_hurry(**limits: float):
    return replace(ASSIGNMENT, limits=replace(ASSIGNMENT.limits, **limits))


@pytest.fixture(scope="session")
def references(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("references") / "test.bpe"
    path.write_text("".join(f"a|||{line}\n" for line in PERFECT.splitlines()))
    return path


@pytest.fixture(scope="session")
def class_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    (write_submission(folder / "good") / "translations.txt").write_text(PERFECT)
    write_submission(folder / "faulty", *FAULTS.values())
    write_submission(folder / "trouble", *TROUBLE)
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
        assignment = in_a_hurry(call_seconds=1.5) if name == "trouble" else ASSIGNMENT
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
