"""A component that takes nearly its whole limit on each call leaves the others their time."""

import pytest
import torch

from autograder.sandbox.errors import SubmissionError, SubmissionTimeoutError

NORM, FEED_FORWARD = "layers.LayerNorm", "layers.FeedForward"
SLOW_CALLS = """
import time
from torch import nn

class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()

    def forward(self, x):
        time.sleep(0.4)
        return x

class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()

    def forward(self, x):
        return x
"""
SLOW_IMPORT = "import time\ntime.sleep(0.4)\n"


def use_up(submission, component: str, *sizes: int) -> None:
    """Calls a component until it is refused."""
    with pytest.raises(SubmissionTimeoutError):
        for _ in range(100):
            submission.build(component, *sizes)(torch.zeros(1, *sizes[:1]))


@pytest.mark.slow
def test_calls_within_their_limit_use_up_no_others_time(sandbox):
    submission = sandbox({"layers": SLOW_CALLS}, call_seconds=0.5, total_seconds=20)
    use_up(submission, NORM, 4)
    assert submission.seconds < 5, "two failures cost a second; the rest is this machine's"
    assert submission.build(FEED_FORWARD, 4, 4)(torch.ones(1, 4)).sum() == 4


@pytest.mark.slow
def test_what_is_left_is_shared(sandbox):
    """However small the total is, a component may use as much of it as it leaves to the rest."""
    submission = sandbox({"layers": SLOW_CALLS}, call_seconds=2, total_seconds=2)
    use_up(submission, NORM, 4)
    assert 0.5 < submission.seconds < 1.7
    assert submission.build(FEED_FORWARD, 4, 4)(torch.ones(1, 4)).sum() == 4


@pytest.mark.slow
def test_the_whole_may_use_what_is_left(sandbox):
    submission = sandbox({"layers": SLOW_CALLS}, call_seconds=0.5, total_seconds=4)
    submission.grant_the_rest()
    use_up(submission, NORM, 4)
    assert submission.seconds > 3


@pytest.mark.slow
def test_a_slow_import_costs_its_own_module(sandbox, example_sources):
    """It would take its time in each new worker, and be put down to whatever was called first."""
    text = example_sources["attention"][1]
    submission = sandbox({"attention": SLOW_IMPORT + text}, call_seconds=0.5, total_seconds=20)
    for _ in range(5):
        assert submission.build(NORM, 4)(torch.ones(1, 4)).shape == (1, 4)
        submission.restart()
    assert submission.seconds < 6
    with pytest.raises(SubmissionError, match="import of attention was skipped|ended its process"):
        submission.build("attention.MultiHeadedAttention", 4, 2)
