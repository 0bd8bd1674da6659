"""A test that fails once has failed, unless another component has damaged the worker; checking has its limits."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.sandbox.containment.zygote import Zygote
from autograder.sandbox.proxy.submission import Sandbox
from autograder.testing import checking_time, collected_tests
from autograder.testing.checking_time import CheckingTime, CheckingTimeoutError
from autograder.testing.collected_tests import CollectedTests
from autograder.testing.results import Outcome, State
from autograder.testing.results import tests_of as results_of
from foundation.assignment_file import read_assignment

DAMAGE = """
class MultiHeadedAttention(MultiHeadedAttention):
    def forward(self, *args, **kwargs):
        torch.relu = lambda x: x
        return super().forward(*args, **kwargs)
"""


@pytest.mark.slow
def test_damage_by_another_component_is_forgiven(reference):
    assignment = read_assignment()
    tests = CollectedTests(assignment, [task for task in assignment.tasks if task.number in ("1.3", "1.5")])
    path, text = reference["attention"]
    with (
        Zygote(assignment) as zygote,
        Sandbox({**reference, "attention": (path, text + DAMAGE)}, assignment, zygote=zygote) as sandbox,
    ):
        outcomes = {marker: found for some in tests.run(sandbox, seed=3) for marker, found in some.items()}
    assert {result.task.number for result in results_of(assignment, outcomes) if result.state == "passed"} == {
        "1.3",
        "1.5",
    }


@pytest.mark.parametrize(
    "tries, passes", [("pppp", True), ("fppp", False), ("pfpp", False), ("pppf", False), ("ffff", False)]
)
def test_chance_is_not_forgiven(monkeypatch, tries, passes):
    """A test that failed must pass in every fresh worker; after one failure it is not tried again."""
    item, restarts, script = SimpleNamespace(nodeid="test"), [], iter(tries)
    outcomes = {"test": Outcome("test", State.FAILED, "first", False)}

    def run_items(items):
        for one in items:
            state = State.PASSED if next(script) == "p" else State.FAILED
            outcomes[one.nodeid] = Outcome("test", state, "again", False)

    monkeypatch.setattr(collected_tests, "run_items", run_items)
    collected_tests.try_again([item], SimpleNamespace(restart=lambda: restarts.append(1)), outcomes)
    assert (outcomes["test"].state == State.PASSED) is passes
    assert len(restarts) == (tries.index("f") + 1 if "f" in tries else 4)


def spin(until: float, clock: list[float]) -> None:
    """Lets the clock go on."""
    clock[0] += until


@pytest.fixture
def clock(monkeypatch):
    """A clock that only `spin` moves."""
    now = [0.0]
    monkeypatch.setattr(checking_time.time, "process_time", lambda: now[0])
    return now


def check(waiting: CheckingTime, file: str, seconds: float, clock: list[float]) -> bool:
    """Whether a test of a file runs; it takes some seconds, which stay below its own limit."""
    try:
        with waiting.limit(Path(file), f"{file}::test"):
            spin(seconds, clock)
    except CheckingTimeoutError:
        return False
    return True


def test_tests_that_each_stay_within_their_limit_use_up_no_other_files_time(clock):
    waiting = CheckingTime()
    n_run = sum(check(waiting, "busy.py", 1.9, clock) for _ in range(50))
    assert n_run * 1.9 <= checking_time.SECONDS_A_FILE + 1.9
    assert check(waiting, "other.py", 0.1, clock)


def test_however_many_files_are_busy_checking_ends(clock):
    waiting = CheckingTime()
    for file in range(40):
        while check(waiting, f"{file}.py", 1.9, clock):
            pass
    assert clock[0] <= checking_time.SECONDS_IN_ALL + 1.9
