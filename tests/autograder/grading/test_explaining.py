"""A failure is named by what its tests see; that changes no mark."""

from dataclasses import replace

import pytest

from autograder.catalogue import Fault
from autograder.grading.explaining import find_misconceptions, name
from autograder.sandbox.submission import Sandbox
from autograder.sources import read_sources
from autograder.testing import results
from autograder.testing.collected_tests import CollectedTests
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE

ROOT_FORMULA = "self.gamma * centred / torch.sqrt(variance + self.epsilon) + self.beta"


def fault(id_: str) -> Fault:
    return Fault(id_, "attention.scaled", "1.2", f"does {id_}", f"look at {id_}", "subtle", (), "a.toml")


def pattern(*tests: int, numbers: str = "0000") -> frozenset[str]:
    return frozenset(f"test {test}{numbers}" for test in tests)


KNOWN = [
    (fault("a"), pattern(1, 2, 3, 4)),
    (fault("b"), pattern(5)),
    (fault("c"), pattern(5)),
]


@pytest.mark.parametrize(
    "seen, expected",
    [
        (pattern(1, 2, 3, 4), "Your code behaves exactly like code that does a.\nHint: look at a"),
        (
            pattern(1, 2, 3, 4, 9),
            "In nearly all tests your code behaves like code that does a.\nHint: look at a",
        ),
        (pattern(1, 2, 3), None),
        (
            pattern(5),
            "Your code behaves exactly like code that does b.\n"
            "The tests cannot tell this from code that does c.\nHint: look at b",
        ),
        (pattern(1, 2, 3, 4, numbers="1111"), None),
        (pattern(), None),
    ],
)
def test_names(seen, expected):
    found, _ = name(KNOWN, seen)
    assert (found and found.text) == expected


@pytest.fixture(scope="module")
def judge(zygote):
    """Judges a LayerNorm whose last line is another one: the result as it was and as it is explained."""
    assignment = read_assignment()
    [task] = (task for task in assignment.tasks if task.number == "1.4")
    tests = CollectedTests(assignment, [task])

    def run(formula: str):
        sources = read_sources(REFERENCE, REFERENCE)
        path, text = sources["layers"]
        assert text.count(ROOT_FORMULA) == 1
        sources["layers"] = path, text.replace(ROOT_FORMULA, formula)
        with Sandbox(sources, assignment, zygote=zygote) as submission:
            [*_, outcomes] = tests.run(submission, 3)
            [plain] = (result for result in results.tests_of(assignment, outcomes) if result.task == task)
            return plain, next(find_misconceptions([plain], tests, submission, assignment), plain)

    return run


@pytest.mark.slow
def test_one_misconception_behind_all_failures_is_one_message_with_its_hint(judge):
    plain, explained = judge("self.gamma * centred / (torch.sqrt(variance) + self.epsilon) + self.beta")
    assert explained.finding.fault.startswith("layer-norm-") and "\nHint: " in explained.finding.text
    missed = sum(outcome.is_missed for outcome in plain.outcomes)
    assert explained.message.startswith(f"{missed} of {len(plain.outcomes)} tests fail for this reason, test_")
    assert explained.message.count("expected:") == 1
    assert replace(explained, finding=None, message=plain.message) == plain


@pytest.mark.slow
@pytest.mark.parametrize("formula", ["{'no': ['tensor', 1]}", "x if torch.rand(()) < 0.5 else (x, x)"])
def test_odd_answers_are_given_no_name(judge, formula):
    plain, explained = judge(formula)
    assert plain.state in ("failed", "error") and explained == plain
