"""The mirror: what a test sees through it is what it would see with the object itself, in this process."""

import copy
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import nn

from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.messages import Encoder
from autograder.sandbox.worker.peers import RAISED
from autograder.testing.arguments import call_with_copies
from autograder.testing.results import CheckFailed
from autograder.testing.subject import Subject

from ..conftest import CLASS, FUNCTION, TEXTS


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
        self.leave.weight = nn.Parameter(torch.ones(d_model, d_ff))
        self.again = self.leave

    def forward(self, x):
        y = self.leave(self.enter(x)) * self.frozen
        return {"y": y, "more": [y.sum(), (y > 0, 3, "text", None, 0.5)]}

    def encode(self, x, mask):
        return torch.where(mask, self.again(self.enter(x)), x), [x]
"""


def test_methods_results_of_every_kind_and_parameters_without_gradient(sandbox):
    module = sandbox({"layers": MIXED}).build("layers.FeedForward", 3, 5).eval()
    assert [p.requires_grad for p in module.parameters()] == [False, True, True, True]
    x = torch.randn(2, 3)
    result = module(x)
    total, rest = result["more"]
    assert rest[1:] == (3, "text", None, 0.5) and rest[0].dtype == torch.bool
    assert not rest[0].requires_grad and total.requires_grad and result["y"].requires_grad
    total.backward()
    encoded, [same] = module.encode(x, mask=torch.ones(3, dtype=torch.bool))
    assert torch.equal(encoded, result["y"]) and torch.equal(same, x)
    assert [p.grad is None for p in module.parameters()] == [True, False, False, False]


def test_the_generator_here_decides_the_randomness_there(example: Sandbox):
    drawn = []
    for _ in range(2):
        torch.manual_seed(5)
        drawn.append([example.call("decode.greedy_decode", "[torch.rand(3), random.random()]") for _ in range(2)])
    (first, second), (first_again, second_again) = drawn
    assert torch.equal(first[0], first_again[0]) and first[1] == first_again[1]
    assert torch.equal(second[0], second_again[0]) and not torch.equal(first[0], second[0])
    expected = torch.rand(3, generator=torch.Generator().manual_seed(9))
    generator = torch.Generator().manual_seed(9)
    given = example.call("decode.greedy_decode", "torch.rand(3, generator=argument)", generator)
    assert torch.equal(given, expected)


def test_layouts_and_identity_arrive(example: Sandbox):
    base = torch.randn(3, 4)
    sent = [base.t(), base[:1].expand(3, 4), base]
    assert example.call("decode.greedy_decode", "[one.stride() for one in argument]", sent) == [(1, 4), (0, 1), (4, 1)]
    for pair, is_same in (([base, base], True), ([base, base.clone()], False)):
        assert example.call("decode.greedy_decode", "argument[0] is argument[1]", pair) is is_same


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
        example.call("decode.greedy_decode", change, tensor)
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


class InputEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model, sparse=True) if vocab_size else nn.LazyLinear(d_model)

    def forward(self, tokens):
        return self.table(tokens)
"""


def test_sparse_gradients_are_dense_and_lazy_layers_refused_in_both_ways(ways):
    for submission in ways({"embedding": UNUSUAL}):
        module = submission.build("embedding.InputEmbedding", 5, 3)
        module(torch.tensor([[1, 1, 4]])).sum().backward()
        [table] = module.parameters()
        assert torch.equal(table.grad.to_dense().sum(1), torch.tensor([0.0, 6.0, 0.0, 0.0, 3.0]))
        with pytest.raises(ValueError, match=r"^table.weight has no size before the first call: give all sizes"):
            submission.build("embedding.InputEmbedding", 0, 3)


def test_what_is_let_go_here_is_let_go_there(example: Sandbox):
    session = example.session("")
    module = example.build("layers.LayerNorm", 4)
    y = module(torch.randn(2, 4))
    number = module.number
    del module, y
    assert {number, number + 1} <= {*session.released}, "the object and the graph of its call"
    example.call("decode.greedy_decode", "0")
    assert session.released == []


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
            first = submission.call("decode.greedy_decode", x)
            submission.call("decode.greedy_decode", x.clone() + 5)
            submission.call("decode.beam_decode", x)
            x.data.fill_(7)
            assert submission.call("decode.beam_decode", x).tolist() == [1, 2, 3]
            assert submission.call("decode.beam_decode", x.clone()).tolist() == [8, 8, 8]
        assert first.tolist() != [1, 2, 3]


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
