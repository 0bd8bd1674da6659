"""A fault of a submission becomes an exception here, with its reason, within its limits.

Each limit ends what it must, and leaves the other components theirs.
"""

import os
import signal
import sys
import sysconfig
import time

import pytest
import torch

from autograder.sandbox.errors import (
    SandboxUnavailableError,
    SubmissionDiedError,
    SubmissionError,
    SubmissionTimeoutError,
)
from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.failures import KINDS
from foundation.assignment_file import read_assignment
from foundation.places import ROOT

from ..conftest import examples_in

EXAMPLES = examples_in("sandbox/session.toml")
CANNOT_BE_SENT, CANNOT_BE_READ = EXAMPLES["cannot_be_sent"], EXAMPLES["cannot_be_read"]

CALL = "decode.greedy_decode"
NORM = "layers.LayerNorm"


RAISED = {kind.__name__: (kind, "a message") for kind in KINDS[2:] if kind is not SyntaxError}
RAISED["KeyError"] = KeyError, "'a message'"
RAISED |= {"Own": (SubmissionError, "Own: a message"), "SystemExit": (SubmissionError, "SystemExit: a message")}


@pytest.mark.parametrize("name", RAISED)
def test_an_exception_arrives_as_itself_or_says_what_it_was(example, name):
    kind, message = RAISED[name]
    with pytest.raises(kind) as caught:
        example.call(CALL, f"fail({name}('a message'))")
    assert isinstance(caught.value, SubmissionError) and str(caught.value) == message


def test_a_module_cannot_hide_parameters(sandbox):
    module = sandbox({"layers": EXAMPLES["hiding"]}).build(NORM, 3)
    shapes = [tuple(parameter.shape) for parameter in module.parameters()]
    assert shapes == [(3, 3), (3,), (1, 2), (1,)]


@pytest.mark.parametrize("value, words", [*CANNOT_BE_SENT.items(), *CANNOT_BE_READ.items()])
def test_results_that_no_test_can_use_are_named(sandbox, value, words):
    with pytest.raises(SubmissionError, match=words) as caught:
        sandbox().call(CALL, value)
    assert isinstance(caught.value, SubmissionDiedError) == (value in CANNOT_BE_READ)


@pytest.mark.parametrize(
    "end, words", [("os._exit(7)", "status 7"), ("os._exit(0)", "status 0"), ("ctypes.string_at(0)", "SIGSEGV")]
)
def test_a_dead_worker_is_replaced_and_its_objects_say_so(sandbox, end, words):
    attend = "import ctypes, os\ndef scaled_dot_product_attention(end):\n    return eval(end)\n"
    submission = sandbox({"attention": attend})
    module = submission.build(NORM, 4)
    y = module(torch.zeros(4)).sum()
    with pytest.raises(SubmissionDiedError, match=words):
        submission.call("attention.scaled_dot_product_attention", end)  # where the norm is, too
    for use in (lambda: module(torch.zeros(4)), y.backward):
        with pytest.raises(SubmissionDiedError, match=words):
            use()
    assert submission.build(NORM, 4)(torch.zeros(4)).shape == (4,)


def test_where_the_grader_is_stays_hidden(sandbox):
    submission = sandbox()
    raised = "fail(ValueError(f'{torch.__file__} 12 of /usr/local/mine'))"
    with pytest.raises(ValueError, match=r"^…/torch/__init__.py 12 of /usr/local/mine$"):
        submission.call(CALL, f"print(torch.__file__, random.__file__, sys.path), traceback.print_stack(), {raised}")
    output = submission.output
    assert str(ROOT) not in output and sys.prefix not in output and sysconfig.get_path("stdlib") not in output
    assert "…/torch/__init__.py …/random.py" in output


@pytest.mark.parametrize("line, words", EXAMPLES["at_import"].items())
def test_a_module_that_fails_or_ends_its_process_at_import_costs_only_itself(sandbox, line, words):
    """`model` and `layers` import it, and are not blamed for it."""
    submission = sandbox({"attention": line}, call_seconds=0.5)
    assert submission.build(NORM, 4)(torch.zeros(4)).shape == (4,)
    assert submission.build("model.Encoder", 4, 2, 8, 1, isolated=False).parameter_names
    with pytest.raises(SubmissionError, match=words):
        submission.build("attention.MultiHeadedAttention", 4, 2)


def test_out_of_memory_is_a_memory_error_and_the_worker_lives(sandbox):
    submission = sandbox(memory_mb=300)
    for taking in ("take_memory()", "torch.zeros(10**10)"):
        with pytest.raises(MemoryError) as caught:
            submission.call(CALL, taking)
        assert isinstance(caught.value, SubmissionError) and not isinstance(caught.value, SubmissionDiedError)
        submission.restart()


@pytest.mark.slow
def test_no_submission_pays_for_a_worker_that_the_system_ends(bare_zygote, example_sources):
    """Without namespaces, so that process numbers mean the same here and there."""
    with Sandbox(example_sources, read_assignment(), zygote=bare_zygote) as submission:
        submission.build(NORM, 4)
        os.kill(submission.session(NORM)._worker.pid, signal.SIGKILL)
        for _ in range(2):  # and nothing that is called later counts
            with pytest.raises(SandboxUnavailableError, match="of memory for each"):
                submission.build(NORM, 4)


@pytest.mark.slow
@pytest.mark.parametrize("call_seconds, total_seconds, most", [(0.5, 20, 5), (2, 2, 1.7)])
def test_calls_within_their_limit_use_up_no_others_time(sandbox, call_seconds, total_seconds, most):
    """They take what two failures would cost, and however small the total is, no more than they leave to the rest."""
    submission = sandbox(call_seconds=call_seconds, total_seconds=total_seconds)
    with pytest.raises(SubmissionTimeoutError):
        for _ in range(100):
            submission.call(CALL, "time.sleep(0.4)")
    assert 0.5 < submission.budget.seconds < most
    assert submission.build(NORM, 4)(torch.ones(1, 4)).shape == (1, 4)


@pytest.mark.slow
@pytest.mark.parametrize("endless", ["loop()", "time.sleep(1000)"])
def test_a_loop_ends_and_is_not_tried_a_third_time(sandbox, endless):
    submission = sandbox(call_seconds=0.3)
    for _ in range(2):
        with pytest.raises(SubmissionTimeoutError, match="0.3 s"):
            submission.call(CALL, endless)
    started = time.monotonic()
    with pytest.raises(SubmissionTimeoutError, match="was skipped"):
        submission.call(CALL, endless)
    assert time.monotonic() - started < 0.3
    assert submission.build(NORM, 4)(torch.zeros(4)).shape == (4,)
    assert 0.6 < submission.budget.seconds < 1.5


def test_the_total_of_wall_time_ends_everything_but_diagnosis(sandbox):
    submission = sandbox(total_seconds=0.5)
    with pytest.raises(SubmissionTimeoutError, match="no answer"):
        submission.call(CALL, "time.sleep(1000)")
    with pytest.raises(SubmissionTimeoutError, match="total"):
        submission.build(NORM, 4)
    submission.budget.renew_time()
    assert submission.build(NORM, 4)(torch.zeros(4)).shape == (4,)


def test_cpu_time_is_limited_over_all_workers(sandbox):
    submission = sandbox(cpu_seconds=1, call_seconds=60)  # a busy machine gives it little of a second
    with pytest.raises(SubmissionTimeoutError, match="CPU time"):
        submission.call(CALL, "loop()")
    assert 1 <= submission.budget.cpu_seconds < 2.5
    with pytest.raises(SubmissionTimeoutError, match="CPU time"):
        submission.build(NORM, 4)
