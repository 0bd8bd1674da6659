"""Own tests and what they test in two processes: a test sees what it would see with both in one."""

import copy
import os
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
import torch
from torch import nn

from autograder.sandbox.worker.host import Host
from autograder.sandbox.worker.messages import Encoder
from autograder.sandbox.worker.peer import RAISED, Peer

FUNCTION, CLASS = "attention.function", "layers.Norm"
TEXTS = {
    FUNCTION: """
from typing import NamedTuple
import torch

class Result(NamedTuple):
    context: torch.Tensor
    weights: torch.Tensor

calls = []

def implementation(query, key=None, how="named"):
    calls.append(how)
    if how == "in place":
        query *= 2
        return query.sum()
    if how == "calls":
        return len(calls)
    if how == "views":
        return query.mT, query[:1].expand(3, *query.shape[1:])
    if how == "raise":
        raise KeyError("the text of this must not be seen")
    return Result(query.sin() * key, torch.softmax(query, -1))
""",
    CLASS: """
import torch
from torch import nn

class implementation(nn.Module):
    def __init__(self, size, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return (self.gain * x.tanh() + self.shift) * (2 if self.training else 1) + 0 * self.calls
""",
}


@pytest.fixture
def peer():
    codes = {name: compile(text, "", "exec") for name, text in TEXTS.items()}
    (requests, to_host), (from_host, replies) = os.pipe(), os.pipe()
    host = threading.Thread(target=serve, args=(Host(codes), requests, replies))
    host.start()
    peer = Peer(to_host, from_host)
    yield peer
    peer._sink.close()
    host.join()
    peer._source.close()


def serve(host: Host, requests: int, replies: int) -> None:
    with suppress(Exception):  # as the worker does
        host.serve(requests, replies)


def here(name: str) -> Callable:
    names: dict = {}
    exec(TEXTS[name], names)
    return names["implementation"]


def both(peer: Peer, name: str) -> list[Callable]:
    return [here(name), peer.implementation(name)]


def test_gradients_of_inputs_twice_and_through_work_of_the_test(peer):
    x, seen = torch.randn(2, 3, dtype=torch.float64), []
    for function in both(peer, FUNCTION):
        leaf = x.clone().requires_grad_()
        context, weights = function(leaf * 3, key=leaf)
        first = torch.autograd.grad(context.sum(), leaf, retain_graph=True)
        second = torch.autograd.grad(context.sum() + weights.square().sum(), leaf)
        seen.append([context, weights, *first, *second])
        assert torch.autograd.gradcheck(lambda y, call=function: call(y, y.cos()), leaf, fast_mode=True)
    for one, other in zip(*seen, strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)


def test_parameters_are_read_written_and_get_gradients(peer):
    x, seen = torch.randn(2, 3), []
    for norm in (made(3, epsilon=0.5) for made in both(peer, CLASS)):
        assert isinstance(norm, nn.Module) and [*norm.state_dict()][:2] == ["gain", "shift"]
        with torch.no_grad():
            for parameter in norm.parameters():
                parameter.add_(0.5)
        norm.gain.data[0] = 7.0
        norm(x).sum().backward()
        gradients = [parameter.grad.clone() for parameter in norm.parameters()]
        norm.zero_grad()
        evaluated = norm.eval()(x)
        optimizer = torch.optim.SGD(norm.parameters(), lr=0.1)
        evaluated.square().sum().backward()
        optimizer.step()
        seen.append([*gradients, evaluated, norm.train()(x), *norm.parameters()])
    for one, other in zip(*seen, strict=True):
        torch.testing.assert_close(one, other)


def test_modules_are_converted_and_copied(peer):
    x, seen = torch.randn(2, 3, dtype=torch.float64), []
    for norm in (made(3) for made in both(peer, CLASS)):
        assert norm(x.float()).dtype == torch.float32
        norm.double().gain.data.fill_(2.0)
        copied = copy.deepcopy(norm)
        copied.gain.data.fill_(3.0)
        assert {parameter.dtype for parameter in (*norm.parameters(), *copied.parameters())} == {torch.float64}
        seen.append([norm(x), copied(x), norm.float()(x.float())])
    for one, other in zip(*seen, strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)


def test_changes_in_place_arrive_in_the_test_s_own_tensor(peer):
    base = torch.arange(12.0).view(3, 4)
    for function in both(peer, FUNCTION):
        own = base.clone()
        total = function(own.t()[1:], how="in place")
        assert torch.equal(own[:, 1:], 2 * base[:, 1:]) and torch.equal(own[:, 0], base[:, 0])
        assert total == own[:, 1:].sum()
        with pytest.raises(RuntimeError):
            function(torch.ones(2, requires_grad=True), how="in place")


def test_named_tuples_and_layouts_arrive(peer):
    x = torch.randn(3, 4)
    for function in both(peer, FUNCTION):
        result = function(x, x)
        assert type(result) is not tuple and torch.equal(result.weights, result[1]) and result._fields[0] == "context"
        turned, expanded = function(x, how="views")
        assert not turned.is_contiguous() and turned.stride() == (1, 4) and expanded.stride() == (0, 1)


def test_state_lives_as_long_as_an_implementation(peer):
    first, second = peer.implementation(FUNCTION), peer.implementation(FUNCTION)
    x = torch.ones(1)
    assert [first(x, how="calls") for _ in range(3)] == [1, 2, 3]
    assert second(x, how="calls") == 1


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
    assert peer.implementation(CLASS)(4).gain.dtype == torch.float32


NO_CALLS = {
    "an object that is not there": {"target": {"object": 99}},
    "a component that is not there": {"target": {"component": "os.system", "made": 1}},
    "strides beyond the numbers": {"tensors": [{"dtype": "float32", "shape": [2], "strides": [1 << 40]}]},
    "negative strides": {"tensors": [{"dtype": "float32", "shape": [2], "strides": [-1]}]},
    "no numbers": {"tensors": [{"dtype": "float32", "shape": [9]}]},
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
