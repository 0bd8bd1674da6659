"""The mirror: what a test sees through it is what it would see with the object itself, in this process."""

from functools import partial

import pytest
import torch

from autograder.sandbox.submission import Sandbox
from autograder.sandbox.worker.peers import Host
from autograder.testing.arguments import call_with_copies
from autograder.testing.results import CheckFailed
from autograder.testing.side_effects import expect_no_side_effects
from autograder.testing.subject import Subject

from ...conftest import examples_in

EXAMPLES = examples_in("sandbox/worker/mirror.toml")

CALLED = "decode.greedy_decode"


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


def test_identity_arrives(example: Sandbox):
    base = torch.randn(3, 4)
    for pair, is_same in (([base, base], True), ([base, base.clone()], False)):
        assert example.call(CALLED, "argument[0] is argument[1]", pair) is is_same


def test_what_is_let_go_here_is_let_go_there(example: Sandbox):
    session = example.session("layers.LayerNorm")
    module = example.build("layers.LayerNorm", 4)
    y = module(torch.randn(2, 4))
    number = module.number
    del module, y
    assert {number, number + 1} <= {*session.released}, "the object and the graph of its call"
    held = example.build("layers.LayerNorm", 4)
    assert session.released == [], held


def test_what_a_class_of_tensors_says_of_itself_does_not_count(sandbox):
    module, x = sandbox({"layers": EXAMPLES["posing"]}).build("layers.LayerNorm", 3), torch.randn(2, 3)
    assert len(module.mirrored) == 1
    with torch.no_grad():
        assert torch.equal(module(x), x + 1) and torch.equal(module(x), x + 1)


@pytest.mark.parametrize("change, is_seen", EXAMPLES["changes"].items())
def test_changed_arguments_are_seen_and_say_nothing(example, change: str, is_seen: bool):
    tensors = [torch.ones(3), torch.zeros(3, dtype=torch.bool), torch.tensor([3, 2, 3]), torch.tensor([2, torch.nan])]
    before = [tensor.clone() for tensor in tensors]
    for tensor in tensors:
        example.call(CALLED, change, tensor)
    same = [torch.equal(now.nan_to_num(), old.nan_to_num()) for now, old in zip(tensors, before, strict=True)]
    assert same == [not is_seen] * 4
    assert not is_seen or (tensors[0].isnan().all() and tensors[2].max() <= 3)


def test_a_change_of_an_argument_is_found_and_spoils_no_gradient(ways):
    seen = []
    for submission in ways({"attention": EXAMPLES["writes"]}):
        x = torch.linspace(-1, 1, 3, dtype=torch.float64)
        function = partial(submission.call, "attention.scaled_dot_product_attention")
        with pytest.raises(CheckFailed, match="query after the call"):
            expect_no_side_effects(Subject(function, ["y"], []), *[{"query": x, "key": x, "value": x}] * 2, str)
        leaf = x.clone().requires_grad_()
        call_with_copies(function, [leaf, 2 * x, x])[0].sum().backward()
        seen.append(leaf.grad)
    assert torch.equal(*seen) and torch.equal(seen[0], 2 * x)


def test_sparse_gradients_are_dense_and_lazy_layers_refused_in_both_ways(ways):
    for submission in ways({"embedding": EXAMPLES["unusual"]}):
        module = submission.build("embedding.InputEmbedding", 5, 3)
        module(torch.tensor([[1, 1, 4]])).sum().backward()
        assert next(module.parameters()).grad.to_dense().sum(1).tolist() == [0, 6, 0, 0, 3]
        with pytest.raises(ValueError, match=r"^weight has no size before the first call: give all sizes"):
            submission.build("embedding.InputEmbedding", 0, 3)


def test_a_result_that_a_later_call_rewrites_and_a_tensor_that_is_sent_again_are_the_same_as_at_home(ways):
    for submission in ways({"decode": EXAMPLES["stateful"]}):
        x = torch.arange(3.0)
        with torch.no_grad():
            first = submission.call(CALLED, x)
            submission.call(CALLED, x.clone() + 5)
            submission.call("decode.beam_decode", x)
            x.data.fill_(7)
            assert submission.call("decode.beam_decode", x).tolist() == [1, 2, 3]
            assert submission.call("decode.beam_decode", x.clone()).tolist() == [8, 8, 8]
        assert first.tolist() != [1, 2, 3]


@pytest.mark.parametrize("more", [{"method": "__getattribute__"}, {"stand_in": "watch"}])
def test_a_host_of_implementations_answers_calls_alone(more):
    with pytest.raises(AttributeError, match="a host is called"):
        Host({}).find({"object": 1, **more})
