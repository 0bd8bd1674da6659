"""Calls in many situations: what each history, mode and copy brings to light."""

import pytest
import torch
from torch import nn

from autograder.assignment.stand_ins import in_turn


class Kept(nn.Module):
    """Remembers, in one way or another, what it should not."""

    def __init__(self, way):
        super().__init__()
        self.way, self.weight = way, nn.Parameter(torch.tensor([2.0, 3.0]))
        self.known = {}
        weight = self.weight
        self.original = lambda: weight

    def forward(self, x, mask=None):
        key = {"by shape": x.shape, "by object": id(x)}.get(self.way, len(self.known))
        if self.way == "weights" and not torch.is_grad_enabled():
            return x * self.known.setdefault("weight", self.weight.detach().clone())
        if self.way == "mask":
            mask = self.known.pop("mask", None) if mask is None else self.known.setdefault("mask", mask)
            return x if mask is None else x * mask
        if self.way == "original":
            return x * self.original()
        return x * self.weight if self.way == "nothing" else self.known.setdefault(key, (x, x * self.weight))[1]


X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def result(way, history, gradients="no_grad", earlier=None):
    module = Kept(way)
    [(found, _)] = in_turn(module, [("forward", gradients, history, False, [X, None], [None, earlier])])
    return found, module


@pytest.mark.parametrize("history", ["nothing", "same objects", "same shapes", "deep copy", "state dict"])
@pytest.mark.parametrize("gradients", ["on", "no_grad", "inference_mode"])
def test_right_code_gives_the_same_everywhere(history, gradients):
    found, module = result("nothing", history, gradients)
    assert torch.equal(found, X * torch.tensor([2.0, 3.0])) and found.requires_grad is (gradients == "on")
    assert torch.equal(module.weight, torch.tensor([2.0, 3.0])) and module.training


@pytest.mark.parametrize(
    "way, history",
    [("by shape", "same shapes"), ("by object", "same objects"), ("weights", "state dict"), ("original", "deep copy")],
)
def test_what_is_remembered_shows(way, history):
    assert torch.equal(result(way, "nothing")[0], X * torch.tensor([2.0, 3.0]))
    assert not torch.equal(result(way, history)[0], X * torch.tensor([2.0, 3.0]))


def test_a_mask_of_the_call_before_shows():
    assert torch.equal(result("mask", "same shapes", earlier=None)[0], X)
    assert not torch.equal(result("mask", "same shapes", earlier=torch.zeros(2, 2))[0], X)


def test_arguments_and_their_graph_stay():
    x = X.clone().requires_grad_()
    module = Kept("nothing")
    calls = [("forward", "on", history, True, [x], []) for history in ("nothing", "deep copy", "same shapes")]
    results = [found for found, _ in in_turn(module, calls)]
    torch.stack(results).sum().backward()
    assert torch.equal(x.grad, 3 * torch.tensor([[2.0, 3.0]] * 2)) and torch.equal(x, X)


def test_what_cannot_be_copied_is_called_itself():
    class Alone(Kept):
        def __deepcopy__(self, memo):
            raise TypeError("there is only one")

    [(found, _)] = in_turn(Alone("nothing"), [("forward", "on", "deep copy", False, [X], [])])
    assert torch.equal(found, X * torch.tensor([2.0, 3.0]))


def test_a_result_that_a_later_call_changes_shows():
    buffer = torch.zeros(2, 2)
    calls = [("forward", "no_grad", history, False, [X], []) for history in ("nothing", "same shapes", "same objects")]
    assert [changes for _, changes in in_turn(buffer.copy_, calls)] == [False, True, True]
    assert [changes for _, changes in in_turn(torch.clone, calls)] == [False] * 3


def test_arguments_may_be_given_by_name():
    def subtract(one, other):
        return one - other

    calls = [("forward", "on", "same shapes", False, [X, 2 * X], [], names) for names in ((), ("other",))]
    calls.append(("forward", "on", "nothing", False, [X, 2 * X], [], ("other", "one")))
    assert [torch.equal(found, -X) for found, _ in in_turn(subtract, calls[:2])] == [True, True]
    assert torch.equal(in_turn(subtract, calls[2:])[0][0], X)
