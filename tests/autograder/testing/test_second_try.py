"""A test that fails once has failed, unless another component has damaged the worker."""

from types import SimpleNamespace

import pytest

from autograder.sandbox.containment.zygote import Zygote
from autograder.sandbox.proxy.submission import Sandbox
from autograder.testing import collected_tests
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
