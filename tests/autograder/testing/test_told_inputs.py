"""A failed check names the inputs of the call that it is about."""

import pytest
import torch

from autograder.sandbox.proxy.last_call import LastCall
from autograder.testing.case import small_cases
from autograder.testing.errors import CheckFailed
from autograder.testing.in_process import InProcessSubmission
from autograder.testing.told_inputs import describe, tell_inputs
from foundation.assignment_file import read_assignment

SOURCES = {
    "layers": ("layers.py", "class Norm:\n    def forward(self, signal, gate=None): ...\n\ndef f(a, /, b): ...\n"),
    "broken": ("broken.py", "def f("),
}


class Submission:
    last_call: LastCall | None = None


def call(component: str, method: str, *args: object, **kwargs: object) -> LastCall:
    return LastCall(SOURCES, component, method, args, kwargs)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (call("layers.Norm", "forward", torch.zeros(2, 3)), "signal (2, 3) float32"),
        (call("layers.Norm", "forward", torch.zeros(2).double(), None), "signal (2,), gate None"),
        (call("layers.Norm", "forward", torch.ones(2, 1).bool(), gate=torch.arange(3)), "signal (2, 1), gate (3,)"),
        (call("layers.f", "", torch.arange(2), torch.arange(3), torch.arange(4)), "a (2,), b (3,), (4,)"),
        (call("layers.Norm", "encode", torch.arange(2)), "(2,)"),
        (call("broken.f", "", torch.arange(2)), "(2,)"),
        (call("stand_ins.g", "", torch.arange(2)), "(2,)"),
        (call("layers.f", "", [torch.arange(2)], 3), ""),
        (call("layers.f", ""), ""),
    ],
)
def test_arguments_have_the_submissions_names(made, said):
    assert describe(made) == said


def test_numbers_are_told_in_the_smallest_cases_alone():
    made = call("layers.f", "", torch.tensor([0.5, 2.0]), torch.zeros(7))
    assert "0.5" not in describe(made)
    with small_cases(0):
        assert describe(made) == "a (2,) float32 = [0.5, 2.0], b (7,) float32"


def test_the_line_stands_below_the_first_and_only_once():
    submission, mask = Submission(), torch.ones(2, dtype=torch.bool)
    submission.last_call = call("layers.f", "", torch.arange(2), mask)
    error = CheckFailed("the sum\n  expected: 1\n  got:      2")
    tell_inputs(error, submission)
    assert str(error) == "the sum\n  inputs:   a (2,), b (2,)\n  expected: 1\n  got:      2"
    assert error.masks == [mask]
    situation = CheckFailed("the sum, called with x (2, 3)\n  expected: 1")
    tell_inputs(situation, submission)
    assert str(situation) == "the sum, called with x (2, 3)\n  expected: 1"
    for nothing in (None, ValueError("no check")):
        tell_inputs(nothing, submission)
    tell_inputs(situation, None)


LAYERS = """
from torch import nn

class LayerNorm(nn.Module):
    def forward(self, x): return 1 / len(x) * x
"""


def test_calls_within_a_stand_in_are_not_named():
    """Nor are they in grading: the two agree on what a check of several calls says."""
    sources = {"__init__": ("", ""), "layers": ("layers.py", LAYERS)}
    submission = InProcessSubmission(sources, read_assignment())
    try:
        norm = submission.build("layers.LayerNorm")
        norm(torch.ones(1, 4))
        assert describe(submission.last_call) == "x (1, 4) float32"
        calls = [("forward", "on", "nothing", False, [torch.ones(size, 4)], []) for size in (2, 3, 0)]
        submission.apply("in_turn", norm, calls[:2])
        assert submission.last_call is None
        with pytest.raises(ZeroDivisionError):
            submission.apply("in_turn", norm, calls)
        assert submission.last_call is None
    finally:
        submission.close()
