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

from ..conftest import ASSIGNMENT

[TASK] = [task for task in ASSIGNMENT.tasks if task.tests_of]
known = cache(lambda: implementations_of(TASK, ASSIGNMENT))
NAMES = "test_it", "test_that", "test_more", "test_rest"
CLASSES = {"attention": "TestAttention", "LayerNorm": "TestLayerNorm"}

PRELUDE = """
import copy
import pytest
import random
import torch
from torch.nn.functional import layer_norm, scaled_dot_product_attention as ours
from torch.testing import assert_close

def draw(b=2, h=3, q=5, k=4, d=7, dtype=torch.float64):
    return tuple(torch.randn(b, h, n, d, dtype=dtype) for n in (q, k, k))

def near(found, expected, tolerance=1e-6):
    assert_close(found, expected, atol=tolerance, rtol=0)

def normed(x, epsilon=1e-6):
    return layer_norm(x, x.shape[-1:], eps=epsilon)

NONE = torch.zeros(5, 4, dtype=torch.bool)
PADDING = torch.tensor([[[[True, True, False, False]]], [[[True, True, True, True]]]])
"""

FORMULA = {"scale", "softmax", "which tensor where", "precision"}
VALUES = {"axes", "mean and variance", "first values"}
ROWS = "a query that may attend to nothing may get any finite numbers"
ROUNDING = "results may be rounded differently"

ALL_USES = """
torch.set_default_dtype(torch.float64)
norm, x = LayerNorm(5).eval(), torch.randn(2, 5)
torch.set_default_dtype(torch.float32)
assert {p.dtype for p in norm.parameters()} == {torch.float64}
copied, before = copy.deepcopy(norm), norm(x)
copied(x).pow(3).sum().backward()
torch.optim.SGD(copied.parameters(), lr=0.1).step()
assert torch.equal(norm(x), before) and not torch.equal(copied(x), before)
"""
SUITES: dict[str, tuple[str, set[str], str]] = {
    "accepts everything": ("pass", set(), ""),
    "a random verdict": ("assert random.SystemRandom().random() < 0.5", set(), "counts for nothing"),
    "the same random verdict on all": ("assert random.random() < 0.5", set(), "counts for nothing"),
    "one comparison": ("x = draw(); near(attention(*x)[0], ours(*x))", FORMULA, ""),
    "too tight": ("x = draw(); near(attention(*x)[0], ours(*x), 1e-12)", set(), ROUNDING),
    "padding": (
        "x = draw(); near(attention(*x, PADDING)[0], ours(*x, PADDING))",
        FORMULA | {"what a mask means"},
        "",
    ),
    "demands zeros": ("assert not attention(*draw(), NONE)[1].any()", set(), ROWS),
    "one comparison of norms": ("x = torch.randn(2, 3, 5); near(LayerNorm(5)(x), normed(x), 1e-5)", VALUES, ""),
    "all that a module can": (ALL_USES, {"side effects"}, ""),
    "gain by name": ("n = LayerNorm(5); n.gamma.data.fill_(2.0)", set(), "shapes of the parameters are free"),
    "a small epsilon": (
        "x = torch.randn(2, 5).double() / 1e3; near(LayerNorm(5).double()(x), normed(x), 1e-4)",
        VALUES | {"epsilon", "precision"},
        "",
    ),
}
"""Weak and wrong tests, with the names of `PRELUDE`: the body, the groups that it finds, what its author is told."""


def suite(argument: str, *bodies: str) -> str:
    """A module with tests."""
    tests = (
        f"    def {name}(self, {argument}):\n{textwrap.indent(body, ' ' * 8)}"
        for name, body in zip(NAMES, bodies, strict=False)
    )
    return "\n".join([PRELUDE, f"class {CLASSES[argument]}:", *tests, ""])


def judged(zygote, text: str):
    intake = Intake("anna", {"own_tests": ("own_tests.py", text)}, frozenset({"own_tests"}))
    quick = replace(ASSIGNMENT, limits=replace(ASSIGNMENT.limits, call_seconds=3))
    tests = SimpleNamespace(describe=partial(CollectedTests.describe, None))
    return judge_own_work(intake, TASK, SimpleNamespace(assignment=quick, zygote=zygote, tests=tests), known(), 7)


def groups(result) -> set[str]:
    return {mark.name.partition(": ")[2] for mark in result.items if not mark.missed}


@pytest.mark.parametrize("name", SUITES)
def test_a_weak_suite_is_worth_what_the_table_says(zygote, name):
    body, worth, message = SUITES[name]
    result = judged(zygote, suite("LayerNorm" if "LayerNorm" in body else "attention", body))
    assert groups(result) == worth
    assert message in result.message and ("counts for nothing" in result.message) == bool(message)


GUESSES = {
    "the process": "import os\nGUESS = os.getpid()",
    "the clock": "import time\nGUESS = time.time_ns() >> 20",
    "what ran before": "GUESS = 1",
}
"""By which of forty tests fails on an implementation that it does not look at."""


@pytest.mark.hostile
def test_tests_that_guess_find_nothing(zygote, sampled):
    for name in sampled(GUESSES, 3):
        first = "    def test_first(self, attention):\n        global GUESS; GUESS = 40; assert False\n"
        tests = (f"    def test_{n}(self, attention):\n        assert GUESS % 40 != {n}\n" for n in range(39))
        text = "\n".join([GUESSES[name], "class TestAttention:", first * (name == "what ran before"), *tests])
        assert not groups(judged(zygote, text + "\nclass TestLayerNorm:\n    pass\n"))


HONEST = "\n    def test_values(self, attention):\n        x = draw(); near(attention(*x)[0], ours(*x))\n"
WRITES = """
import os, json, struct

def write(data):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, data)
        except OSError:
            pass
"""
TROUBLE = {  # what tests do to the process that they run in, and with its pipes; and what is reported of each
    "end never": (["while True: pass"], "it takes too long"),
    "go wrong": (
        [
            "attention(*draw()); torch.zeros(10**12)",
            "os.fork()",
            "print('x' * 10**7); [attention(*draw()) for _ in range(9)]; assert False",
            "print('LEAK', attention(*draw())); raise ValueError(f'LEAK {attention(*draw())}')",
        ],
        "it rejects correct code",
    ),
    "claim to pass": (["import sys; sys.modules['stand_ins.own_tests']._run = lambda *all: ''"], ""),
    "leave a message": (["write(b'TAK1' + bytes(40))"], ""),
    "ask for other verbs": (
        [
            """
for verb in ("load", "import", "serve", "try", "find"):
    text = json.dumps({"id": 1, "verb": verb, "drop": [], "tensors": [], "default": "float32", "texts": {}}).encode()
    write(struct.pack("<4sIQ", b"TAK1", len(text), 0) + text)
"""
        ],
        "",
    ),
}


@pytest.mark.hostile
@pytest.mark.slow
@pytest.mark.parametrize("name", TROUBLE)
def test_tests_that_go_wrong_cost_only_themselves_and_gain_nothing(zygote, name):
    """The test beside them still counts, and finds at most what it finds alone."""
    bodies, reason = TROUBLE[name]
    result = judged(zygote, WRITES + suite("attention", *bodies) + HONEST + "\nclass TestLayerNorm:\n    pass\n")
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


SPIES = """
import os
import sys
import importlib
import inspect
from functools import update_wrapper
from torch.nn.functional import *

seen = []


def text_of(thing):
    code = getattr(thing, "__code__", None)
    return f"{getattr(code, 'co_consts', '')} {getattr(code, 'co_names', '')}"


class TestAttention:
    def test_nothing_of_it_is_here(self, attention):
        attention(*draw())
        functions = [one for one in importlib.import_module("gc").get_objects() if inspect.isfunction(one)]
        assert functions and not any("masked_fill" in text_of(one) and "softmax" in text_of(one) for one in functions)

    def test_names_say_nothing(self, attention):
        copied = update_wrapper(lambda: 0, attention)
        told = text_of(copied.__wrapped__) + copied.__name__ + copied.__qualname__ + copied.__module__
        assert "softmax" not in told and "attention-" not in told

    def test_frames_say_nothing(self, attention):
        frame = sys._getframe()
        while frame:
            assert "attention-" not in str(frame.f_locals) and "masked_fill" not in str(frame.f_locals)
            frame = frame.f_back

    def test_errors_say_nothing(self, attention):
        with pytest.raises(Exception) as caught:
            attention(torch.ones(2, 3), torch.ones(7, 5), None)
        assert str(caught.value) == "the code under test has raised this"

    def test_earlier_implementations_are_forgotten(self, attention):
        assert not hasattr(torch, "seen") or torch.seen is seen
        torch.seen = seen
"""
"""What tells implementations apart, or gets at them, were it there. Where it is not, these tests pass each time."""


@pytest.mark.hostile
@pytest.mark.slow
def test_spies_see_nothing(zygote):
    result = judged(zygote, PRELUDE + SPIES)
    assert "TestAttention: 5 of 5 tests count; 0 of 10 groups are found" in result.message


WALK = """
import torch
import torch.nn.functional as F


class TestAttention:
    def test_values(self, attention):
        x = torch.randn(3, 2, 3, 5, 8)
        torch.testing.assert_close(attention(*x)[0], F.scaled_dot_product_attention(*x), atol=1e-5, rtol=0)

    def test_rows(self, attention):
        assert not attention(*torch.randn(3, 2, 3, 5, 8), torch.zeros(5, 5, dtype=torch.bool))[1].any()

    def test_mask(self, attention):
        # TODO E.4: later
        raise NotImplementedError("TODO E.4")


class TestLayerNorm:
    def test_gain(self, LayerNorm):
        assert LayerNorm(5).gamma.shape == (5,)


print("x\\n" * 29)
"""


def test_at_home_they_are_tried_on_what_students_have():
    sources = {"__init__": ("__init__.py", ""), "own_tests": ("own_tests.py", WALK)}
    result, text = run_task(TASK, sources, 1, ASSIGNMENT, lambda module, line: f"{module}, line {line}")
    assert "0 of 4 tests pass, graded once you hand in" in text and result.score == 0
    assert "output of your code:\n… 9 more lines\nx\n" in text
    assert "test_rows fails on right 2 (own_tests, line 12, AssertionError)" in text
    assert (
        "test_gain fails on right 1 (own_tests, line 21, AttributeError: 'LayerNorm' object has no attribute 'gamma')"
        in text
    )
    assert "all pass on code that takes True for forbidden, and on code that gives the values no gradient" in text
