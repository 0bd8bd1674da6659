"""What happens while the hook runs, or where no line of a submission is running, is reported, too."""

from contextlib import suppress

import pytest
import torch

from autograder.sandbox.errors import SubmissionError

WITHIN = """
import torch

inside, reached = [False], []


def reach():
    if inside[0]:
        inside[0] = False
        reached.append(getattr(torch, "_" + "C"))


class Key(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        reach()
        return str.__eq__(self, other)


def later(cell):
    try:
        yield
    finally:
        reach()


def collect():
    for n in range(20_000):
        if n % 1000 == 0:
            cell = []
            cell.append(later(cell))
            next(cell[0])
        kept.append([])
        inside[0] = True
        torch.abs
        inside[0] = False


def compare():
    inside[0] = True
    kinds.warmth


kept, kinds = [], type("Kinds", (), {Key("warmth"): 1})


def greedy_decode(way):
    {"garbage": collect, "a key": compare}[way]()
    return len(reached)
"""


@pytest.mark.hostile
@pytest.mark.parametrize("way", ["garbage", "a key"])
def test_what_happens_within_the_hook_is_heard(sandbox, way):
    submission = sandbox({"decode": WITHIN})
    n_reached = submission.call("decode.greedy_decode", way)
    assert any(name == "torch._C" for _, _, name in submission.notices.seen) or (way, n_reached) == ("garbage", 0)


UNSEEN = """
import torch
from functools import partial
from torch import nn

run = partial(__builtins__["eval"], "(lambda: __import__('sys')._getframe())()", {})


class LayerNorm(nn.Sequential):
    def __init__(self, d_model):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))

    def __iter__(self):
        return iter([partial(torch.mul, self.gain), run])


class FeedForward(LayerNorm):
    def forward(self, x):
        y = x * self.gain
        y.register_hook(run)
        return y
"""
UNSEEN_FUNCTION = """
from functools import partial

scaled_dot_product_attention = partial(__builtins__["eval"], "(lambda: __import__('sys')._getframe())()", {})
"""


@pytest.mark.hostile
@pytest.mark.parametrize("component", ["LayerNorm", "FeedForward", ""])
def test_what_no_line_of_a_submission_calls_is_reported(sandbox, component):
    submission = sandbox({"layers": UNSEEN, "attention": UNSEEN_FUNCTION})
    with suppress(SubmissionError):
        x = torch.ones(2, 4, requires_grad=True)
        if component:
            submission.build(f"layers.{component}", 4)(x).sum().backward()
        submission.call("attention.scaled_dot_product_attention", x)
    submission.restart()
    place = ("layers" if component else "attention", 1)
    assert {(*place, name) for name in ("compile", "exec", "sys._getframe")} <= {*submission.notices.seen}
