"""A test that fails once has failed, unless another component has damaged the worker; checking has its limits.

The random inputs of a test depend on the seed, the test's file and its name, and on nothing else.
"""

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from autograder.running import collected_tests
from autograder.running.collected_tests import CheckingTimeoutError, CollectedTests
from autograder.running.collection import case_of
from autograder.sandbox.errors import submission_error
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.zygote import Zygote
from autograder.testing.results import CollectionError, Outcome, State
from autograder.testing.results import tests_of as results_of
from foundation.assignment_file import Item, read_assignment

DAMAGE = """
class MultiHeadedAttention(MultiHeadedAttention):
    def forward(self, *args, **kwargs):
        torch.relu = lambda x: x
        return super().forward(*args, **kwargs)
"""


def test_an_item_that_no_test_names_stops_everything():
    usual = read_assignment()
    task = usual.tasks[0]
    task = replace(task, items=(*task.items, Item("read aloud", 1.0)))
    with pytest.raises(CollectionError, match=r"assignment.toml: task 1\.1: no test names the item 'read aloud'"):
        CollectedTests(replace(usual, tasks=(task,)))


@pytest.mark.slow
def test_damage_by_another_component_is_forgiven(reference):
    assignment = read_assignment()
    tests = CollectedTests(assignment, [task for task in assignment.tasks if task.number in ("1.3", "1.5")])
    path, text = reference["attention"]
    with (
        Zygote(assignment) as zygote,
        Sandbox({**reference, "attention": (path, text + DAMAGE)}, assignment, zygote=zygote) as sandbox,
    ):
        outcomes = {marker: ends for some in tests.run(sandbox, seed=3) for marker, ends in some.items()}
    passed = {result.task.number for result in results_of(assignment, outcomes) if result.state == "passed"}
    assert passed == {"1.3", "1.5"}


@pytest.mark.parametrize(
    "kind, state",
    [
        ("MemoryError", State.OUT_OF_MEMORY),
        ("ForbiddenShortcut", State.REFUSED),
        ("NotImplementedError", State.ERROR),
        ("ValueError", State.ERROR),
    ],
)
def test_states_of_what_submitted_code_raises(kind, state):
    classified, message = CollectedTests.describe(None, submission_error(kind, "why"))
    assert classified is state and message.endswith("why")


@pytest.mark.parametrize(
    "tries, passes", [("pppp", True), ("fppp", False), ("pfpp", False), ("pppf", False), ("ffff", False)]
)
def test_chance_is_not_forgiven(tries, passes):
    """A test that failed must pass in every fresh worker; after one failure it is not tried again."""
    item, restarts, script = SimpleNamespace(nodeid="test"), [], iter(tries)
    outcomes = {"test": Outcome("test", State.FAILED, "first", False)}

    def run_items(items):
        for test in items:
            state = State.PASSED if next(script) == "p" else State.FAILED
            outcomes[test.nodeid] = Outcome("test", state, "again", False)

    tests = SimpleNamespace(outcomes=outcomes, run_items=run_items)
    CollectedTests.try_again(tests, [item], SimpleNamespace(restart=lambda: restarts.append(1)))
    assert (outcomes["test"].state == State.PASSED) is passes
    assert len(restarts) == (tries.index("f") + 1 if "f" in tries else 4)


@pytest.mark.parametrize("n_files, most", [(1, collected_tests.SECONDS_A_FILE), (40, collected_tests.SECONDS_IN_ALL)])
def test_however_many_tests_stay_within_their_limit_checking_ends(monkeypatch, n_files, most):
    """The clock is one that nothing else moves."""
    now, tests = [0.0], SimpleNamespace(_used=Counter(), exhausted_by=[])
    monkeypatch.setattr(collected_tests.time, "process_time", lambda: now[0])

    def runs(file: str) -> bool:
        try:
            with CollectedTests.limits(tests, SimpleNamespace(path=Path(file), nodeid="test")):
                now[0] += 1.9
        except CheckingTimeoutError:
            return False
        return True

    n_run = sum(runs(f"{file}.py") for file in range(n_files) for _ in range(50))
    assert n_run * 1.9 <= most + 1.9
    assert runs("other.py") is (n_files == 1)


def test_inputs_depend_on_the_seed_the_file_and_the_test_alone() -> None:
    places = [*product((7, 8), ("test_one.py", "test_two.py"), ("test_a", "test_a[1]"))]

    def draw(seed: int, file: str, test: str) -> list[float]:
        torch.rand(3)
        return case_of(SimpleNamespace(path=Path(file), name=test), seed).normal(3).tolist()

    drawn = [draw(*place) for place in places]
    assert len({*map(tuple, drawn)}) == len(places)
    assert [draw(*place) for place in reversed(places)] == drawn[::-1]
