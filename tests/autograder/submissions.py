"""Submissions made of the reference, results of tasks, and the files of a class."""

import csv
from collections.abc import Mapping
from pathlib import Path

from autograder.grading.record import Record, new_record
from autograder.testing.results import State, TaskResult
from foundation.assignment_file import Task, read_assignment
from foundation.places import ASSIGNMENT_FILE, REFERENCE

MODEL = ("embedding", "attention", "layers", "model", "masks", "train", "decode")
GRADED = (*MODEL, "own_tests", "understanding", "hunts")


def points_of(task: Task) -> float:
    """What a task gives to whoever does everything but what is a bonus."""
    return 0.0 if task.understanding else task.points


def judged(states: Mapping[str, State] = {}, others: State = State.PASSED) -> tuple[TaskResult, ...]:
    """Each task in a state, by its number; all of its points where it has passed, and none else."""
    found = [(task, states.get(task.number, others)) for task in read_assignment().tasks]
    return tuple(
        TaskResult(task, state, points_of(task), "") if state is State.PASSED else TaskResult(task, state, 0.0, "why")
        for task, state in found
    )


def record_of(name: str, *results: TaskResult, others: State = State.PASSED, **facts: object) -> Record:
    """The finished record of a submission; tasks without a result are in another state."""
    record = new_record(name, read_assignment(), "0" * 16).taken_in({})
    return record.judged([*judged(others=others), *results], **facts).finished()


def write_submission(folder: Path, *changes: tuple[str, str, str], modules: tuple[str, ...] = MODEL) -> Path:
    """Files of the reference, some of them changed: module, old text, new text."""
    folder.mkdir(parents=True)
    for module in modules:
        text = (REFERENCE / f"{module}.py").read_text(encoding="utf-8")
        for name, old, new in changes:
            if name == module:
                assert text.count(old) == 1, old
                text = text.replace(old, new)
        (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table that the kit has written."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def changed_assignment(path: Path, *changes: tuple[str, str], late: str = "") -> Path:
    """Writes the kit's assignment with other texts, and with a table `[late]` of some lines."""
    text = ASSIGNMENT_FILE.read_text()
    for old, new in (*changes, *([("[release]", f"[late]\n{late}\n\n[release]")] if late else [])):
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text)
    return path
