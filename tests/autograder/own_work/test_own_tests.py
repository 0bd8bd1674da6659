"""What students' own tests earn: weak ones little, and those that reject right code nothing.

The gates of a release see that the reference's earn all.
"""

import textwrap
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace

import pytest

from autograder.at_home.notebook import run_task
from autograder.intake.submission import Intake
from autograder.own_work.graded import judge_own_work
from autograder.own_work.own_tests import implementations_of
from autograder.running.collected_tests import CollectedTests
from autograder.testing.results import State
from foundation.places import ROOT

from ..conftest import ASSIGNMENT, examples_in

EXAMPLES = examples_in("own_work/own_tests.toml")
FORMULA = {*EXAMPLES["suites"]["one comparison"]["worth"]}

[TASK] = [task for task in ASSIGNMENT.tasks if task.tests_of]
known = cache(lambda: implementations_of(TASK, ASSIGNMENT))
NAMES = "test_it", "test_that", "test_more", "test_rest"
CLASSES = {"attention": "TestAttention", "LayerNorm": "TestLayerNorm"}


def suite(argument: str, *bodies: str) -> str:
    """A module with tests."""
    tests = (
        f"    def {name}(self, {argument}):\n{textwrap.indent(body, ' ' * 8)}"
        for name, body in zip(NAMES, bodies, strict=False)
    )
    return "\n".join([EXAMPLES["prelude"], f"class {CLASSES[argument]}:", *tests, ""])


def judged(zygote, text: str):
    intake = Intake("anna", {"own_tests": ("own_tests.py", text)}, frozenset({"own_tests"}))
    quick = replace(ASSIGNMENT, limits=replace(ASSIGNMENT.limits, call_seconds=3))
    tests = SimpleNamespace(describe=partial(CollectedTests.describe, None))
    return judge_own_work(intake, TASK, SimpleNamespace(assignment=quick, zygote=zygote, tests=tests), known(), 7)


def groups(result) -> set[str]:
    return {mark.name.partition(": ")[2] for mark in result.items if not mark.missed}


@pytest.mark.parametrize("name", EXAMPLES["suites"])
def test_a_weak_suite_is_worth_what_the_table_says(zygote, name):
    case = EXAMPLES["suites"][name]
    message = case.get("message", "")
    result = judged(zygote, suite("LayerNorm" if "LayerNorm" in case["body"] else "attention", case["body"]))
    assert groups(result) == {*case["worth"]}
    assert message in result.message and ("counts for nothing" in result.message) == bool(message)


@pytest.mark.hostile
def test_tests_that_guess_find_nothing(zygote, sampled):
    for name in sampled(EXAMPLES["guesses"], 3):
        first = "    def test_first(self, attention):\n        global GUESS; GUESS = 40; assert False\n"
        tests = (f"    def test_{n}(self, attention):\n        assert GUESS % 40 != {n}\n" for n in range(39))
        above = [EXAMPLES["guesses"][name], "class TestAttention:", first * (name == "what ran before")]
        text = "\n".join([*above, *tests])
        assert not groups(judged(zygote, text + "\nclass TestLayerNorm:\n    pass\n"))


def test_what_is_usual_in_pytest_counts(zygote):
    result = judged(zygote, EXAMPLES["prelude"] + EXAMPLES["usual_in_pytest"])
    assert groups(result) == FORMULA | {"axes", "mean and variance", "first values"}
    assert "TestAttention: 3 of 3 tests count" in result.message
    assert "TestLayerNorm: 1 of 1 test count" in result.message


HONEST = "\n    def test_values(self, attention):\n        x = draw(); near(attention(*x)[0], ours(*x))\n"


@pytest.mark.hostile
@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES["trouble"])
def test_tests_that_go_wrong_cost_only_themselves_and_gain_nothing(zygote, name):
    """The test beside them still counts, and finds at most what it finds alone."""
    bodies, reason = EXAMPLES["trouble"][name]["bodies"], EXAMPLES["trouble"][name].get("reason")
    tests = suite("attention", *bodies) + HONEST + "\nclass TestLayerNorm:\n    pass\n"
    result = judged(zygote, EXAMPLES["writes"] + tests)
    assert groups(result) <= FORMULA and "LEAK" not in str(result)
    if reason:
        assert result.state is State.FAILED and groups(result) == FORMULA
        assert all(
            f"{test} counts for nothing: {reason}" in result.message for test, _ in zip(NAMES, bodies, strict=False)
        )


@pytest.mark.parametrize(
    "text, state, message",
    [
        ("class TestAttention(:\n", State.ERROR, "own_tests.py, line 1: invalid syntax"),
        (suite("attention", "pass") + "raise ValueError('oops')", State.ERROR, "own_tests.py: ValueError: oops"),
        (
            suite("attention", "pass") + "while True: pass",
            State.ERROR,
            "own_tests.py: ImportError: own_tests.py took too long when it was imported: no answer within 3 s",
        ),
        ((ROOT / ASSIGNMENT.package / "own_tests.py").read_text(encoding="utf-8"), State.NOT_ATTEMPTED, "TODO E.4: "),
        (
            "class TestAttention:\n" + "".join(f"    def test_{n}(self, attention): pass\n" for n in range(41)),
            State.REFUSED,
            "own_tests.TestAttention: more than 40 tests",
        ),
    ],
)
def test_a_module_that_cannot_be_tried_gets_one_line(zygote, text, state, message):
    result = judged(zygote, text)
    assert result.state is state and result.message.startswith(message) and "\n" not in result.message


@pytest.mark.hostile
@pytest.mark.slow
def test_spies_see_nothing(zygote):
    result = judged(zygote, EXAMPLES["prelude"] + EXAMPLES["spies"])
    assert "TestAttention: 5 of 5 tests count; 0 of 10 groups are found" in result.message


def test_at_home_they_are_tried_on_what_students_have():
    sources = {"__init__": ("__init__.py", ""), "own_tests": ("own_tests.py", EXAMPLES["walk"])}
    result, text = run_task(TASK, sources, 1, ASSIGNMENT, lambda module, line: f"{module}, line {line}")
    assert "0 of 4 tests pass, graded once you hand in" in text and result.score == 0
    assert "output of your code:\n… 9 more lines\nx\n" in text
    assert "test_rows fails on right 2 (own_tests, line 11, AssertionError)" in text
    assert (
        "test_gain fails on right 1 (own_tests, line 20, AttributeError: 'LayerNorm' object has no attribute 'gamma')"
        in text
    )
    assert "all pass on code that takes True for forbidden, and on code that gives the values no gradient" in text
