"""A class of three submissions, and a stub in the place of the true grader."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.classroom import grading as class_grading
from autograder.classroom.entries import take_class
from autograder.classroom.grading import grade_class
from autograder.classroom.staleness import Conditions
from autograder.commands import grade_class as command
from autograder.grading.events import Contained, Finished, TasksJudged
from autograder.grading.marks import TaskResult
from autograder.grading.record import Record, read_record
from autograder.grading.seeds import Seeds
from autograder.grading.states import State
from foundation.assignment_file import read_assignment
from foundation.places import SKELETON

VERSION = "0123456789abcdef"
SEEDS = Seeds(b"a secret")
ASSIGNMENT = read_assignment()


class StubGrader:
    """In the place of a true one: notes who is graded in a file, and gives every point."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def renew(self) -> None:
        pass

    def judge(self, intake, seed, **options):
        with self.log.open("a") as file:
            file.write(f"{intake.name}\n")
        yield Contained(("seccomp", "uid"), "")
        yield from self.parts(intake)
        yield Finished()

    def parts(self, intake):
        tasks = read_assignment().tasks
        yield TasksJudged(tuple(TaskResult(task, State.PASSED, task.points, "") for task in tasks))

    def names(self) -> list[str]:
        """Who has been graded since the last call."""
        found = sorted(self.log.read_text().split())
        self.log.write_text("")
        return found


@pytest.fixture
def folder(tmp_path):
    """Three submissions of one line each."""
    for name in ("anna", "bob", "carl"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "layers.py").write_text(f"# by {name}\n")
    return tmp_path / "class"


@pytest.fixture
def output(tmp_path):
    return tmp_path / "marks"


@pytest.fixture
def use(tmp_path, monkeypatch):
    """Lets classes be graded by a stub of this kind."""

    def install(kind: type[StubGrader]) -> StubGrader:
        (tmp_path / "log").touch()
        stub = kind(tmp_path / "log")

        @contextmanager
        def open_stub(*arguments):
            yield stub

        monkeypatch.setattr(class_grading, "open_grader", open_stub)
        monkeypatch.setattr(command, "seeds_of_term", lambda root, fixed: replace(SEEDS, fixed=fixed))
        return stub

    return install


@pytest.fixture
def log(use):
    """Returns who has been graded, and forgets it."""
    return use(StubGrader).names


def run(folder, output, again=False, version=VERSION, seed=None, **options) -> dict[str, Record]:
    """Grades a class; its records by file name."""
    _, entries = take_class(folder, output, ASSIGNMENT)
    seeds = replace(SEEDS, fixed=seed)
    conditions = Conditions(read_assignment(), SKELETON, folder / "references", version, seeds, **options)
    grade_class(entries, conditions, again)
    found = {entry.entry: read_record(entry.record) for entry in entries}
    assert None not in found.values()
    return found


@pytest.fixture(scope="session", autouse=True)
def _with_fixed_secret(fixed_secret):
    """For the commands."""
