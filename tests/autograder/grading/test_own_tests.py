"""What students' own tests earn: the reference's all, weak ones little, and those that reject right code nothing."""

import random
import textwrap
import warnings
from dataclasses import replace

import pytest
import torch

from autograder.grading.made_code import implementations_of
from autograder.grading.own_tests import Tried, judge_own_tests
from autograder.intake import Intake
from autograder.testing.notebook import run_task
from autograder.testing.own_tests import looks_inside, named_tests
from autograder.testing.results import State
from autograder.testing.under_test import InProcessSubmission
from foundation.assignment_file import read_assignment
from foundation.assignment_tables import Contract
from foundation.places import REFERENCE, ROOT

ASSIGNMENT = read_assignment()
[TASK] = [task for task in ASSIGNMENT.tasks if task.tests_of]
KNOWN = implementations_of(TASK, ASSIGNMENT)
CLASSES = {"attention": ("TestAttention", TASK.tests_of[0]), "LayerNorm": ("TestLayerNorm", TASK.tests_of[1])}

PRELUDE = """
import pytest
import random
import torch
from torch.autograd import gradcheck
from torch.nn.functional import layer_norm, scaled_dot_product_attention as ours
from torch.testing import assert_close

def draw(b=2, h=3, q=5, k=4, d=7, dtype=torch.float64):
    return tuple(torch.randn(b, h, n, d, dtype=dtype) for n in (q, k, k))

def near(found, expected, tolerance=1e-6):
    assert_close(found, expected, atol=tolerance, rtol=0)

def moved(norm):
    for parameter in norm.parameters():
        parameter.data.add_(0.5)
    return norm

def normed(x, epsilon=1e-6):
    return layer_norm(x, x.shape[-1:], eps=epsilon)

NONE = torch.zeros(5, 4, dtype=torch.bool)
PADDING = torch.tensor([[[[True, True, False, False]]], [[[True, True, True, True]]]])
CAUSAL = torch.ones(5, 4, dtype=torch.bool).tril()
"""

FORMULA = {"scale", "softmax", "which tensor where", "precision"}
VALUES = {"axes", "mean and variance", "first values"}
ROWS = "a query that may attend to nothing may get any finite numbers"
ROUNDING = "results may be rounded differently"

SUITES: dict[str, tuple[str, set[str], str]] = {
    "accepts everything": ("pass", set(), ""),
    "a random verdict": ("assert random.random() < 0.5", set(), "counts for nothing"),
    "sums of rows": (
        "near(attention(*draw())[1].sum(-1), torch.ones(2, 3, 5).double())",
        {"precision", "softmax", "what is returned"},
        "",
    ),
    "one comparison": ("x = draw(); near(attention(*x)[0], ours(*x))", FORMULA, ""),
    "too tight": ("x = draw(); near(attention(*x)[0], ours(*x), 1e-12)", set(), ROUNDING),
    "padding": (
        "x = draw(); near(attention(*x, PADDING)[0], ours(*x, PADDING))",
        FORMULA | {"what a mask means"},
        "",
    ),
    "demands zeros": ("assert not attention(*draw(), NONE)[1].any()", set(), ROWS),
    "demands a plain tuple": ("assert type(attention(*draw())) is tuple", set(), "a named tuple is a tuple, too"),
    "gradients": (
        "assert gradcheck(attention, [t.requires_grad_() for t in draw(1, 1, 2, 2, 2)], fast_mode=True)",
        {"gradients", "precision"},
        "",
    ),
    "one comparison of norms": ("x = torch.randn(2, 3, 5); near(LayerNorm(5)(x), normed(x), 1e-5)", VALUES, ""),
    "gain by name": ("n = LayerNorm(5); n.gamma.data.fill_(2.0)", set(), "shapes of the parameters are free"),
    "a small epsilon": (
        "x = torch.randn(2, 5).double() / 1e3; near(LayerNorm(5).double()(x), normed(x), 1e-4)",
        VALUES | {"epsilon", "precision"},
        "",
    ),
    "counts what is learned": (
        "assert sum(p.numel() for p in LayerNorm(5).parameters() if p.requires_grad) == 10",
        {"what is learned"},
        "",
    ),
    "evaluation": (
        "n = LayerNorm(5).eval(); x = torch.randn(2, 5); near(n(x), normed(x), 1e-4)",
        VALUES | {"side effects"},
        "",
    ),
}
"""Weak and wrong tests, with the names of `PRELUDE`: the body, the groups that it finds, what its author is told."""


@pytest.fixture(scope="module", autouse=True)
def _imports():
    """What `assert_close` imports when it first runs warns of itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.testing.assert_close(torch.ones(1), torch.ones(1))


def suite(argument: str, body: str) -> str:
    """A module with one test."""
    test = f"    def test_it(self, {argument}):\n{textwrap.indent(body, ' ' * 8)}"
    return f"{PRELUDE}\nclass {CLASSES[argument][0]}:\n{test}\n"


def tried(argument: str, text: str) -> Tried:
    """Tests of ours, tried in this process; nothing in them needs a sandbox."""
    name, component = CLASSES[argument]
    alone = replace(ASSIGNMENT, contract=Contract({"own_tests": (name,)}))
    found = Tried(f"own_tests.{name}", KNOWN[component], named_tests(text, name))
    draw = random.Random(1)
    for implementation in found.implementations:
        submission = InProcessSubmission({"__init__": ("", ""), "own_tests": ("own_tests.py", text)}, alone)
        found.try_on(implementation, submission, draw)
        submission.close()
    return found


def groups(found: Tried) -> set[str]:
    return {one.item.partition(": ")[2] for one in found.outcomes if one.state is State.PASSED}


FEW = {"accepts everything", "one comparison", "too tight", "demands zeros", "a small epsilon", "gain by name"}


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one in FEW else pytest.mark.slow) for one in SUITES])
def test_a_weak_suite_is_worth_what_the_table_says(name):
    body, worth, told = SUITES[name]
    argument = "LayerNorm" if "LayerNorm" in body else "attention"
    found = tried(argument, suite(argument, body))
    assert groups(found) == worth
    assert bool(found.counting) != bool(told) and told in found.report


REFERENCE_SUITE = (REFERENCE / "own_tests.py").read_text(encoding="utf-8")


LOOKS = {  # a line, and what is refused in it
    "import os": "os",
    "from autograder import testing": "autograder",
    "from .attention import scaled_dot_product_attention": ".attention",
    "attention.__code__": "__code__",
    "torch.sys.modules": "sys",
    "getattr(attention, '__co' + 'de__')": "__co",
    "'{0.__code__}'.format(attention)": "format",
    "f'{attention.__code__}'": "__code__",
    "vars(attention)": "vars",
    "context.grad_fn.next_functions": "next_functions",
    "match x:\n    case torch.Tensor(__code__=y): pass": "__code__",
    "class T(torch.Tensor):\n    def __torch_function__(self): pass": "__torch_function__",
    "pytest.importorskip('inspect')": "importorskip",
}


@pytest.mark.parametrize("line", LOOKS)
def test_a_test_must_not_look_inside(line):
    seen = looks_inside(f"import torch\n{line}\n")
    assert seen is not None and seen[0] >= 2 and LOOKS[line] in seen[1]


@pytest.mark.parametrize(
    "line", ["getattr(torch, 'float64')", "norm.eval()", "x.random_()", "isinstance(x, torch.nn.Module)"]
)
def test_what_tests_usually_do_is_no_look_inside(line):
    assert looks_inside(f"{PRELUDE}\n{line}\n") is None
    assert looks_inside(REFERENCE_SUITE) is None


def judged(zygote, text: str):
    intake = Intake("anna", {"own_tests": ("own_tests.py", text)}, frozenset({"own_tests"}))
    quick = replace(ASSIGNMENT, limits=replace(ASSIGNMENT.limits, call_seconds=3))
    return judge_own_tests(intake, TASK, quick, zygote, 7)


@pytest.mark.slow
def test_the_reference_earns_all_in_the_sandbox(zygote):
    result = judged(zygote, REFERENCE_SUITE)
    assert (result.state, result.message) == (State.PASSED, "")
    assert [mark.missed for mark in result.items] == [0] * len(TASK.items)


TROUBLE = {  # what a test does, and what is said of it; the test beside it still counts
    "while True: pass": "it takes too long",
    "raise SystemExit": "it rejects correct code",
    "attention(*draw()); torch.zeros(10**12)": "it rejects correct code",
    "other.append(1)": "it rejects correct code",
}


@pytest.mark.slow
@pytest.mark.parametrize("body", TROUBLE)
def test_a_test_that_goes_wrong_costs_only_itself(zygote, body):
    text = (
        suite("attention", body)
        + "\n    def test_values(self, attention):\n        x = draw(); near(attention(*x)[0], ours(*x))\n"
    )
    result = judged(zygote, text)
    assert result.state is State.FAILED
    assert {"attention: scale", "attention: softmax"} <= {mark.name for mark in result.items if not mark.missed}
    assert f"test_it counts for nothing: {TROUBLE[body]}" in result.message


@pytest.mark.parametrize(
    "text, state, told",
    [
        ("import os\nclass TestAttention: pass\n", State.REFUSED, "own_tests.py, line 1: a test must not look inside"),
        ("class TestAttention(:\n", State.ERROR, "own_tests.py, line 1: invalid syntax"),
        (suite("attention", "pass") + "raise ValueError('oops')", State.ERROR, "own_tests.py: oops"),
    ],
)
def test_a_module_that_cannot_be_tried_gets_one_line(zygote, text, state, told):
    result = judged(zygote, text)
    assert result.state is state and result.message.startswith(told) and "\n" not in result.message


def test_the_skeleton_is_not_attempted(zygote):
    result = judged(zygote, (ROOT / ASSIGNMENT.package / "own_tests.py").read_text(encoding="utf-8"))
    assert result.state is State.NOT_ATTEMPTED and result.message.startswith("TODO E.4: ")


SPIES = {  # what tells implementations apart, were it there; such tests have got around the search of their text
    "names": "assert attention.__name__ == attention.__qualname__ == 'implementation' and not attention.__doc__",
    "files and lines": "c = attention.__code__; assert not c.co_filename and not c.co_linetable",
    "source": "import inspect\nwith pytest.raises(OSError): inspect.getsource(attention)",
    "earlier implementations": "assert not hasattr(torch, 'seen'); torch.seen = 1",
    "frames": """
import sys
frame = sys._getframe()
while frame:
    assert 'attention-' not in str(frame.f_locals)
    frame = frame.f_back
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPIES)
def test_implementations_look_the_same(zygote, monkeypatch, name):
    """Where there is nothing to be seen these pass each time: they count, and find nothing."""
    monkeypatch.setattr("autograder.grading.own_tests.looks_inside", lambda text: None)
    result = judged(zygote, suite("attention", SPIES[name]) + "\nclass TestLayerNorm:\n    pass\n")
    assert "1 of 1 test count; 0 of 10 groups are found" in result.message


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
"""


def test_at_home_they_are_tried_on_what_students_have():
    sources = {"__init__": ("__init__.py", ""), "own_tests": ("own_tests.py", WALK)}
    result, said = run_task(TASK, sources, 1, ASSIGNMENT, lambda module, line: f"{module}, line {line}")
    assert "0 of 4 tests pass, graded once you hand in" in said and result.score == 0
    assert "test_rows fails on right 1 (line 12, AssertionError)" in said
    assert "test_gain fails on right 1 (line 21, AttributeError: 'LayerNorm' object has no attribute 'gamma')" in said
    assert "all pass on code that takes True for forbidden, and on code that gives the values no gradient" in said
