"""Results and decisions in SQLite."""

from collections.abc import Iterator

import pytest

from autograder.classroom.store import ByHand, Database, Owner, Received, Results, url_of
from autograder.grading.record import Record
from autograder.grading.recording import Finished, GivenUp, Recorder, TakenIn, TasksJudged
from autograder.grading.seeds import Seeds
from autograder.testing.results import Outcome, State, judge_task
from foundation.assignment_file import Assignment, read_assignment

VERSION = "0123456789abcdef"
SEEDS = Seeds(b"a secret")


def received(name: str = "anna", **details: object) -> Received:
    return Received(name, name, (Owner(name, name.title(), f"{name}@example.org"),), **details)


def graded(
    failed: str = "",
    content: str = "a",
    version: str = VERSION,
    assignment: Assignment | None = None,
    state: State = State.FAILED,
    gives_up: bool = False,
) -> Record:
    """A record in which each part has two tests, of which the second of `failed` ends in a state."""
    assignment = assignment or read_assignment()
    recorder = Recorder("anna", assignment, version)
    recorder.add(TakenIn({"layers.py": content * 64}, "0" * 12))
    if gives_up:
        return recorder.add(GivenUp("a bug of ours"))
    results = []
    for task in assignment.tasks:
        ends = state if task.number == failed else State.PASSED
        items = [item.name for item in task.items[:2]] or ["", ""]
        outcomes = [
            Outcome(f"{task.name}_{n}", one, item=items[n], nodeid=f"test_{task.name}.py::{n}")
            for n, one in enumerate((State.PASSED, ends))
        ]
        results.append(judge_task(task, outcomes, assignment.credit))
    recorder.add(TasksJudged(tuple(results)))
    return recorder.add(Finished())


@pytest.fixture
def database(tmp_path) -> Iterator[Database]:
    with Database(url_of(None, tmp_path), "transformer") as opened:
        yield opened


@pytest.fixture
def results(database) -> Results:
    """With Anna and Bob enrolled."""
    found = Results(database, SEEDS)
    found.enrol([received("anna"), received("bob")])
    return found


@pytest.fixture
def by_hand(database, results) -> ByHand:
    return ByHand(database)
