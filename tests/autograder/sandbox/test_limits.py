"""Limits of time, memory and output: each ends what it must, and leaves the other components theirs."""

import os
import signal
import time

import pytest
import torch

from autograder.sandbox.errors import (
    SubmissionDiedError,
    SubmissionError,
    SubmissionTimeoutError,
    WorkerKilledError,
)
from autograder.sandbox.submission import Sandbox
from foundation.assignment_file import read_assignment

CALL = "decode.greedy_decode"
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


def test_out_of_memory_is_a_memory_error_and_the_worker_lives(sandbox):
    submission = sandbox(memory_mb=300)
    for kind in ("memory", "big_tensor"):
        with pytest.raises(MemoryError) as caught:
            submission.call(CALL, kind)
        assert isinstance(caught.value, SubmissionError) and not isinstance(caught.value, SubmissionDiedError)
        submission.restart()


@pytest.mark.slow
def test_a_worker_that_the_system_ends_was_out_of_memory(bare_zygote, example_sources):
    """Without namespaces, so that process numbers mean the same here and there."""
    component, assignment = "layers.LayerNorm", read_assignment()
    for killed_before, expected in (((), WorkerKilledError), ((component,), SubmissionDiedError)):
        with Sandbox(example_sources, assignment, zygote=bare_zygote, killed_before=killed_before) as submission:
            submission.build(component, 4)
            os.kill(submission._supervisor.session("")._worker.pid, signal.SIGKILL)
            with pytest.raises(expected, match="for its memory") as caught:
                submission.build(component, 4)
    assert isinstance(caught.value, MemoryError)


def test_a_worker_that_closes_its_pipe_was_not(sandbox):
    submission = sandbox({"layers": "import os\nclass LayerNorm:\n    def __init__(self): os.closerange(3, 64)\n"})
    with pytest.raises(SubmissionDiedError) as caught:
        submission.build("layers.LayerNorm")
    assert not isinstance(caught.value, MemoryError)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["loop", "sleep"])
def test_a_loop_ends_and_is_not_tried_a_third_time(sandbox, kind):
    submission = sandbox(call_seconds=0.3)
    for _ in range(2):
        with pytest.raises(SubmissionTimeoutError, match="0.3 s"):
            submission.call(CALL, kind)
    started = time.monotonic()
    with pytest.raises(SubmissionTimeoutError, match="was skipped"):
        submission.call(CALL, kind)
    assert time.monotonic() - started < 0.1
    assert submission.build("layers.LayerNorm", 4)(torch.zeros(4)).shape == (4,)
    assert 0.6 < submission.seconds < 1.5


def test_the_total_of_wall_time_ends_everything(sandbox):
    submission = sandbox(total_seconds=0.5)
    with pytest.raises(SubmissionTimeoutError, match="no answer"):
        submission.call(CALL, "sleep")
    with pytest.raises(SubmissionTimeoutError, match="total"):
        submission.build("layers.LayerNorm", 4)


@pytest.mark.slow
def test_cpu_time_is_limited_over_all_workers(sandbox):
    submission = sandbox(cpu_seconds=1, call_seconds=60)  # a busy machine gives it little of a second
    with pytest.raises(SubmissionTimeoutError, match="CPU time"):
        submission.call(CALL, "loop")
    assert 1 <= submission.cpu_seconds < 2.5
    with pytest.raises(SubmissionTimeoutError, match="CPU time"):
        submission.build("layers.LayerNorm", 4)


def test_output_is_kept_cut_and_cleaned(sandbox):
    submission = sandbox(output_kb=1)
    submission.call(CALL, "print", 2)
    assert submission.output.count("0123456789") == 20 and submission.output.endswith("to stderr\n")
    submission.call(CALL, "print", 20_000)
    assert len(submission.output) < 1100 and submission.output.endswith("more bytes were printed]")
