"""What a submission does wrong becomes an exception here, with its reason, within its limits."""

import builtins
import sys
import sysconfig

import pytest
import torch

from autograder.sandbox.errors import (
    MAX_MESSAGE,
    SubmissionDiedError,
    SubmissionError,
)
from autograder.sandbox.worker.failures import KINDS
from foundation.places import ROOT

CALL = "decode.greedy_decode"


def test_a_builtin_exception_arrives_as_itself(example):
    for name in {kind.__name__ for kind in KINDS[1:]} - {"KeyError", "SyntaxError"}:
        with pytest.raises(SubmissionError, match="^a message$") as caught:
            example.call(CALL, "raise", name)
        assert isinstance(caught.value, vars(builtins)[name]) and caught.value.message == "a message"


@pytest.mark.parametrize(
    "name, kind, message",
    [
        ("KeyError", KeyError, "'the key'"),
        ("Own", SubmissionError, "Own: own message"),
        ("SystemExit", SubmissionError, "SystemExit: 3"),
    ],
)
def test_other_exceptions_say_what_they_were(example, name, kind, message):
    with pytest.raises(kind) as caught:
        example.call(CALL, "raise", name)
    assert isinstance(caught.value, SubmissionError) and str(caught.value) == message


def test_a_message_is_cut_and_cleaned(example):
    with pytest.raises(SubmissionError) as caught:
        example.call(CALL, "message")
    message = caught.value.message
    assert len(message) <= MAX_MESSAGE and message.endswith("[cut]")
    assert "\x1b" not in message and "\u202e" not in message and "\r" not in message and "red" in message


def test_a_traceback_shows_the_submissions_lines_and_no_others(example):
    with pytest.raises(SubmissionError) as caught:
        example.call(CALL, "traceback")
    lines = caught.value.student_traceback.splitlines()
    assert [line.split(", ")[0] for line in lines[::2]] == ["decode.py"] * 3
    assert lines[-2].endswith("in deeper") and lines[-1].strip() == "return torch.zeros(2) @ torch.zeros(3)"


def test_lines_are_counted_as_python_counts_them(sandbox):
    text = "#\f\u2028\x85\ndef scaled_dot_product_attention(a, b, c):\n    return a + missing\n"
    with pytest.raises(SubmissionError) as caught:
        sandbox({"attention": text}).call("attention.scaled_dot_product_attention", 1, 2, 3)
    last = "attention.py, line 3, in scaled_dot_product_attention\n    return a + missing"
    assert caught.value.student_traceback.endswith(last)


def test_a_syntax_error_costs_its_own_module(sandbox):
    submission = sandbox({"attention": "def scaled_dot_product_attention(:\n    pass\n"})
    with pytest.raises(SyntaxError) as caught:
        submission.call("attention.scaled_dot_product_attention", 1, 2, 3)
    assert "attention.py, line 1" in caught.value.student_traceback
    assert "def scaled_dot_product_attention(:" in caught.value.student_traceback
    submission.build("layers.LayerNorm", 4)(torch.zeros(4))


@pytest.mark.parametrize("kind", ["raise ValueError('at import')", "raise SystemExit", "import no_such_package_here"])
def test_an_import_that_fails_costs_its_own_module(sandbox, kind):
    submission = sandbox({"attention": kind})
    with pytest.raises(SubmissionError):
        submission.build("attention.MultiHeadedAttention", 4, 2)
    submission.build("layers.LayerNorm", 4)(torch.zeros(4))


@pytest.mark.parametrize(
    "name, words",
    [
        ("numpy", "numpy.ndarray"),
        ("object", "Own"),
        ("module", "Linear"),
        ("huge", "64 bits"),
        ("sparse", "sparse"),
        ("complex", "complex64"),
        ("expanded", "more than can be sent"),
        ("deep", "nested"),
        ("cyclic", "nested"),
        ("keys", "tuple"),
    ],
)
def test_results_that_cannot_be_sent_are_named(example, name, words):
    with pytest.raises(TypeError, match=words) as caught:
        example.call(CALL, "return", name)
    assert isinstance(caught.value, SubmissionError)


@pytest.mark.parametrize(
    "kind, argument, words", [("exit", 7, "status 7"), ("exit", 0, "status 0"), ("crash", 0, "SIGSEGV")]
)
def test_a_dead_worker_is_replaced_and_its_objects_say_so(sandbox, kind, argument, words):
    submission = sandbox()
    module = submission.build("layers.LayerNorm", 4)
    y = module(torch.zeros(4)).sum()
    with pytest.raises(SubmissionDiedError, match=words):
        submission.call(CALL, kind, argument)
    for use in (lambda: module(torch.zeros(4)), y.backward, lambda: module.eval()):
        with pytest.raises(SubmissionDiedError, match=words):
            use()
    with pytest.raises(SubmissionDiedError, match=words):
        submission.call(CALL, "layout", [module])
    assert submission.build("layers.LayerNorm", 4)(torch.zeros(4)).shape == (4,)


TELLING = """
import json, sys, traceback
import torch

def greedy_decode(x):
    print(torch.__file__, json.__file__, sys.path, torch.initial_seed(), 123456789)
    traceback.print_stack()
    raise ValueError(f"{torch.__file__} {torch.initial_seed()} 12 of /usr/local/mine")
"""


def test_where_the_grader_is_and_its_seeds_are_not_told(sandbox):
    submission = sandbox({"decode": TELLING})
    with pytest.raises(ValueError, match=r"^…/torch/__init__.py … 12 of /usr/local/mine$"):
        submission.call(CALL, torch.ones(1))
    printed = submission.output
    assert str(ROOT) not in printed and sys.prefix not in printed and sysconfig.get_path("stdlib") not in printed
    assert "…/torch/__init__.py …/json/__init__.py" in printed and "] … 123456789\n" in printed


@pytest.mark.parametrize("line, words", [("import os; os._exit(3)", "status 3"), ("while True: pass", "within 0.5 s")])
def test_a_module_that_ends_its_process_at_import_costs_only_itself(sandbox, line, words):
    """`model` and `layers` import it, and are not blamed for it."""
    submission = sandbox({"attention": line}, call_seconds=0.5)
    assert submission.build("layers.LayerNorm", 4)(torch.zeros(4)).shape == (4,)
    assert submission.build("model.Transformer", 7, 4, isolated=False).parameter_names
    with pytest.raises(ImportError, match=words):
        submission.build("attention.MultiHeadedAttention", 4, 2)
