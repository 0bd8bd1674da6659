"""The mirror: what a test sees through it is what it would see with the object itself, in this process."""

import copy
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import pytest
import torch
from torch import nn

from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.messages import Encoder
from autograder.sandbox.worker.peers import RAISED, Host, Peer
from autograder.testing.arguments import call_with_copies
from autograder.testing.results import CheckFailed
from autograder.testing.subject import Subject

CALLED = "decode.greedy_decode"
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


def here(name: str) -> Callable:
    """The function or class of TEXTS in this process."""
    names: dict = {}
    exec(TEXTS[name], names)
    return names["implementation"]


@pytest.fixture
def peer() -> Iterator[Peer]:
    """The way from students' own tests to implementations, which a thread of this process serves here."""
    (requests, to_host), (from_host, replies) = os.pipe(), os.pipe()

    def serve() -> None:
        with suppress(Exception):  # as the worker does
            Host({name: compile(text, "", "exec") for name, text in TEXTS.items()}).serve(requests, replies)

    host = threading.Thread(target=serve)
    host.start()
    peer = Peer(to_host, from_host)
    yield peer
    peer._sink.close()
    host.join()
    peer._source.close()


@pytest.fixture(params=["a submission", "students' own tests"])
def both(request) -> Callable[[str], list[Callable]]:
    """The function or class of TEXTS in this process, and through the mirror of another one."""

    def make(name: str) -> list[Callable]:
        if request.param == "students' own tests":
            return [here(name), request.getfixturevalue("peer").implementation(name)]
        module = name.partition(".")[0]
        submission = request.getfixturevalue("sandbox")({module: TEXTS[name]})
        use = submission.build if name == CLASS else submission.call
        return [here(name), partial(use, f"{module}.implementation")]

    return make


def test_gradients_of_inputs_twice_and_through_work_of_the_test(both):
    x, seen = torch.randn(2, 3, dtype=torch.float64), []
    for function in both(FUNCTION):
        leaf = x.clone().requires_grad_()
        context, weights = function(leaf * 3, key=leaf)
        first = torch.autograd.grad(context.sum(), leaf, retain_graph=True)
        second = torch.autograd.grad(context.sum() + weights.square().sum(), leaf)
        seen.append([context, weights, *first, *second])
        assert torch.autograd.gradcheck(lambda y, call=function: call(y, y.cos()), leaf, fast_mode=True)
    for here, there in zip(*seen, strict=True):
        torch.testing.assert_close(here, there, atol=0, rtol=0)


def test_parameters_are_read_written_and_get_gradients(both):
    x, seen = torch.randn(2, 3), []
    for norm in (made(3, epsilon=0.5) for made in both(CLASS)):
        assert isinstance(norm, nn.Module)
        with torch.no_grad():
            for parameter in norm.parameters():
                parameter.add_(0.5)
        next(norm.parameters()).data[0] = 7.0
        norm(x).sum().backward()
        gradients = [parameter.grad.clone() for parameter in norm.parameters()]
        norm.zero_grad()
        evaluated = norm.eval()(x)
        optimizer = torch.optim.SGD(norm.parameters(), lr=0.1)
        evaluated.square().sum().backward()
        optimizer.step()
        seen.append([*gradients, evaluated, norm.train()(x), *norm.parameters()])
    for here, there in zip(*seen, strict=True):
        torch.testing.assert_close(here, there)


def test_modules_are_converted_and_copied(both):
    x, seen = torch.randn(2, 3, dtype=torch.float64), []
    for norm in (made(3) for made in both(CLASS)):
        assert norm(x.float()).dtype == torch.float32
        next(norm.double().parameters()).data.fill_(2.0)
        copied = copy.deepcopy(norm)
        next(copied.parameters()).data.fill_(3.0)
        assert {parameter.dtype for parameter in (*norm.parameters(), *copied.parameters())} == {torch.float64}
        seen.append([norm(x), copied(x), norm.float()(x.float())])
    for here, there in zip(*seen, strict=True):
        torch.testing.assert_close(here, there, atol=0, rtol=0)


MIXED = """
import torch
from torch import nn

class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.frozen = nn.Parameter(torch.ones(1), requires_grad=False)
        self.enter, self.leave = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        y = self.leave(self.enter(x)) * self.frozen
        return {"y": y, "more": [y.sum(), (y > 0, 3, "text", None, 0.5)]}

    def encode(self, x, mask):
        return torch.where(mask, self.leave(self.enter(x)), x), [x]
"""


def test_methods_results_of_every_kind_and_parameters_without_gradient(sandbox):
    module = sandbox({"layers": MIXED}).build("layers.FeedForward", 3, 5).eval()
    x = torch.randn(2, 3)
    result = module(x)
    total, (positive, *rest) = result["more"]
    assert rest == [3, "text", None, 0.5] and positive.dtype == torch.bool and not positive.requires_grad
    total.backward()
    encoded, [same] = module.encode(x, mask=torch.ones(3, dtype=torch.bool))
    assert torch.equal(encoded, result["y"]) and torch.equal(same, x)
    assert [p.requires_grad for p in module.parameters()] == [False, True, True, True]
    assert [p.grad is None for p in module.parameters()] == [True, False, False, False]


def test_the_generator_here_decides_the_randomness_there(example: Sandbox):
    drawn = []
    for _ in range(2):
        torch.manual_seed(5)
        drawn.append([example.call(CALLED, "[torch.rand(3).tolist(), random.random()]") for _ in range(2)])
    (first, second), again = drawn
    assert [first, second] == again and first[0] != second[0]
    own, sent = (torch.Generator().manual_seed(9) for _ in range(2))
    given = example.call(CALLED, "torch.rand(3, generator=argument)", sent)
    assert torch.equal(given, torch.rand(3, generator=own))


def test_layouts_and_identity_arrive(example: Sandbox):
    base = torch.randn(3, 4)
    sent = [base.t(), base[:1].expand(3, 4), base]
    assert example.call(CALLED, "[one.stride() for one in argument]", sent) == [(1, 4), (0, 1), (4, 1)]
    for pair, is_same in (([base, base], True), ([base, base.clone()], False)):
        assert example.call(CALLED, "argument[0] is argument[1]", pair) is is_same


CHANGES = {
    "argument.__setitem__(0, 1)": True,
    "argument.data.__setitem__(0, 7)": True,
    "setattr(argument, 'data', torch.zeros(5))": True,
    "argument.data.__setitem__(0, argument.data[0].clone())": False,
}


@pytest.mark.parametrize("change, is_seen", CHANGES.items())
def test_changed_arguments_are_seen_and_say_nothing(example, change: str, is_seen: bool):
    tensors = [torch.ones(3), torch.zeros(3, dtype=torch.bool), torch.tensor([3, 2, 3]), torch.tensor([2, torch.nan])]
    before = [tensor.clone() for tensor in tensors]
    for tensor in tensors:
        example.call(CALLED, change, tensor)
    same = [torch.equal(now.nan_to_num(), old.nan_to_num()) for now, old in zip(tensors, before, strict=True)]
    assert same == [not is_seen] * 4
    assert not is_seen or (tensors[0].isnan().all() and tensors[2].max() <= 3)


WRITES = """
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = key * query
    add_to(query)
    query.data[0] = 0.0
    return scores, mask


def add_to(one):
    two = one + 1
    one += two
"""


def test_a_change_of_an_argument_has_its_line_and_spoils_no_gradient(ways):
    seen = []
    for submission in ways({"attention": WRITES}):
        x = torch.linspace(-1, 1, 3, dtype=torch.float64)
        function = partial(submission.call, "attention.scaled_dot_product_attention")
        with pytest.raises(CheckFailed, match="query after the call") as caught:
            Subject(function, ["y"], []).expect_no_side_effects(*[{"query": x, "key": x, "value": x}] * 2)
        assert "changed in place by attention.py, line 11: one += two" in str(caught.value)
        leaf = x.clone().requires_grad_()
        call_with_copies(function, [leaf, 2 * x, x])[0].sum().backward()
        seen.append(leaf.grad)
    assert torch.equal(*seen) and torch.equal(seen[0], 2 * x)


UNUSUAL = """
from torch import nn


def InputEmbedding(vocab_size, d_model):
    return nn.Embedding(vocab_size, d_model, sparse=True) if vocab_size else nn.LazyLinear(d_model)
"""


def test_sparse_gradients_are_dense_and_lazy_layers_refused_in_both_ways(ways):
    for submission in ways({"embedding": UNUSUAL}):
        module = submission.build("embedding.InputEmbedding", 5, 3)
        module(torch.tensor([[1, 1, 4]])).sum().backward()
        assert next(module.parameters()).grad.to_dense().sum(1).tolist() == [0, 6, 0, 0, 3]
        with pytest.raises(ValueError, match=r"^weight has no size before the first call: give all sizes"):
            submission.build("embedding.InputEmbedding", 0, 3)


STATEFUL = """
import torch

buffer, known = torch.zeros(3), {}


def greedy_decode(x):
    return torch.add(x, 1, out=buffer)


def beam_decode(x):
    return known.setdefault(id(x), (x, x + 1))[1]
"""


def test_a_result_that_a_later_call_rewrites_and_a_tensor_that_is_sent_again_are_the_same_as_at_home(ways):
    for submission in ways({"decode": STATEFUL}):
        x = torch.arange(3.0)
        with torch.no_grad():
            first = submission.call(CALLED, x)
            submission.call(CALLED, x.clone() + 5)
            submission.call("decode.beam_decode", x)
            x.data.fill_(7)
            assert submission.call("decode.beam_decode", x).tolist() == [1, 2, 3]
            assert submission.call("decode.beam_decode", x.clone()).tolist() == [8, 8, 8]
        assert first.tolist() != [1, 2, 3]


def test_changes_in_place_arrive_in_the_test_s_own_tensor(peer):
    base = torch.arange(12.0).view(3, 4)
    for function in [here(FUNCTION), peer.implementation(FUNCTION)]:
        own = base.clone()
        total = function(own.t()[1:], how="in place")
        assert torch.equal(own[:, 1:], 2 * base[:, 1:]) and torch.equal(own[:, 0], base[:, 0])
        assert total == own[:, 1:].sum()
        with pytest.raises(RuntimeError):
            function(torch.ones(2, requires_grad=True), how="in place")


def test_named_tuples_and_layouts_arrive(peer):
    x = torch.randn(3, 4)
    for function in [here(FUNCTION), peer.implementation(FUNCTION)]:
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
