"""Own tests and what they test in two processes: a test sees what it would see with both in one."""

from collections.abc import Callable

import pytest
import torch

from autograder.sandbox.worker.messages import Encoder
from autograder.sandbox.worker.peers import RAISED

from ..conftest import CLASS, FUNCTION, TEXTS


def here() -> Callable:
    names: dict = {}
    exec(TEXTS[FUNCTION], names)
    return names["implementation"]


def test_changes_in_place_arrive_in_the_test_s_own_tensor(peer):
    base = torch.arange(12.0).view(3, 4)
    for function in [here(), peer.implementation(FUNCTION)]:
        own = base.clone()
        total = function(own.t()[1:], how="in place")
        assert torch.equal(own[:, 1:], 2 * base[:, 1:]) and torch.equal(own[:, 0], base[:, 0])
        assert total == own[:, 1:].sum()
        with pytest.raises(RuntimeError):
            function(torch.ones(2, requires_grad=True), how="in place")


def test_named_tuples_and_layouts_arrive(peer):
    x = torch.randn(3, 4)
    for function in [here(), peer.implementation(FUNCTION)]:
        result = function(x, x)
        assert type(result) is not tuple and torch.equal(result.weights, result[1]) and result._fields[0] == "context"
        turned, expanded = function(x, how="views")
        assert not turned.is_contiguous() and turned.stride() == (1, 4) and expanded.stride() == (0, 1)


def test_of_an_exception_only_the_kind_arrives(peer):
    with pytest.raises(KeyError) as caught:
        peer.implementation(FUNCTION)(torch.ones(1), how="raise")
    assert str(caught.value) == repr(RAISED)
    with pytest.raises(TypeError, match=RAISED):
        peer.implementation(CLASS)(4, unknown=1)


def test_the_default_dtype_of_the_test_holds(peer):
    torch.set_default_dtype(torch.float64)
    try:
        assert peer.implementation(CLASS)(4).gain.dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    norm = peer.implementation(CLASS)(4)
    assert norm.gain.dtype == torch.float32 and [*norm.state_dict()] == ["gain", "shift"]


NO_CALLS = {
    "an object that is not there": {"target": {"object": 99}},
    "a component that is not there": {"target": {"component": "os.system", "made": 1}},
    "strides beyond the numbers": {"tensors": [{"dtype": "float32", "shape": [2], "strides": [1 << 40]}]},
    "arguments of no kind": {"args": {"eval": "1"}},
}


@pytest.mark.parametrize("name", NO_CALLS)
def test_a_host_says_no_more_than_that_something_was_raised(peer, name):
    """And goes on."""
    encoder = Encoder()
    usual = {"target": {"component": FUNCTION, "made": 0}, "args": encoder.encode([torch.ones(2)] * 2), "grad": True}
    usual |= {"kwargs": {"dict": []}, "seed": 1, "parameters": []}
    assert peer.request("", "call", usual, encoder, lambda answer: answer.result["graph"]) is False
    content = {**usual, **NO_CALLS[name]}
    with pytest.raises(Exception, match=RAISED):
        peer.request("", "call", content, encoder, lambda answer: answer.result)
    assert peer.implementation(FUNCTION)(torch.ones(1), how="calls") == 1


@pytest.mark.parametrize("verb", ["load", "import", "serve", "try", "find", "answer", ""])
def test_a_host_has_no_other_verbs(peer, verb):
    with pytest.raises((EOFError, BrokenPipeError)):
        for _ in range(2):
            peer.request("", verb, {"texts": {}}, Encoder(), lambda answer: answer.result)
