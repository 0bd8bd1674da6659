"""Roles of parameters that lie in any order in one flat parameter are found by what the component computes."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.assignment.expected import by_behaviour
from autograder.assignment.expected.by_behaviour import in_a_row, places_of
from autograder.assignment.stand_ins import attention_inputs
from autograder.assignment.stand_ins.components import scaled_dot_product_attention

D, F_, V, H = 6, 5, 9, 3


class Scattered(nn.Module):
    """Its numbers lie in one parameter, in any order; `factor` scales them before they are used."""

    def __init__(self, *shapes, factor=1.0):
        super().__init__()
        torch.manual_seed(3)
        count = sum(torch.Size(shape).numel() for shape in shapes)
        self.theta = nn.Parameter(torch.randn(count, dtype=torch.float64))
        self.order, self.shapes, self.factor = torch.randperm(count), shapes, factor

    def places(self):
        parts = self.order.split([torch.Size(shape).numel() for shape in self.shapes])
        return [part.view(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def parts(self):
        return [self.theta[places] * self.factor for places in self.places()]


class Table(Scattered):
    def forward(self, tokens):
        return self.parts()[0][tokens] * D**0.5


class Norm(Scattered):
    def forward(self, x):
        return F.layer_norm(x, (D,), *self.parts(), eps=1e-6)


class TwoMaps(Scattered):
    def forward(self, x):
        first, inner, second, outer = self.parts()
        return F.linear(F.relu(F.linear(x, first, inner)), second, outer)


class Attention(Scattered):
    def forward(self, query, key, value, mask=None):
        maps = self.parts()
        biases = [*maps[4:], *[0.0] * 4][:4]
        heads = [
            (x @ maps[i] + biases[i]).unflatten(-1, (H, -1)).transpose(1, 2) for i, x in enumerate((query, key, value))
        ]
        context, weights = scaled_dot_product_attention(*heads, mask)
        return context.transpose(1, 2).flatten(2) @ maps[3] + biases[3], weights


class Here:
    """The stand-ins, in this process."""

    def apply(self, name, subject, *args):
        assert name == "attention_inputs"
        return attention_inputs(subject, *args)


def test_a_table():
    module = Table((V, D))
    assert torch.equal(by_behaviour.find_table(module, V, D), module.places()[0])
    assert by_behaviour.find_table(Table((V, D), factor=1.1), V, D) is None


def test_gain_and_shift():
    module = Norm((D,), (D,))
    found = by_behaviour.find_gain_and_shift(module, D, 1e-6)
    assert all(torch.equal(one, other) for one, other in zip(found, module.places(), strict=True))
    assert by_behaviour.find_gain_and_shift(Norm((D,), (D,), factor=2.0), D, 1e-6) is None


def test_a_network_but_for_the_order_of_its_hidden_units():
    module = TwoMaps((F_, D), (F_,), (D, F_), (D,))
    before, x = module.theta.detach().clone(), torch.randn(4, 7, D, dtype=torch.float64)
    network = by_behaviour.find_network(module, D, F_).of(list(module.parameters()))
    assert torch.allclose(network(x), module(x), atol=1e-12)
    assert torch.equal(module.theta, before)
    places = by_behaviour.find_network(module, D, F_).parts
    assert sorted(in_a_row(places).tolist()) == list(range(len(before)))
    assert by_behaviour.find_network(TwoMaps((F_, D), (F_,), (D, F_), (D,), factor=0.5), D, F_) is None


@pytest.mark.parametrize("is_biased", [True, False])
def test_projections(is_biased):
    module = Attention(*[(D, D)] * 4, *[(D,)] * 4 * is_biased)
    found = by_behaviour.find_projections(Here(), module, D, H)
    query, key, value = (torch.randn(2, n, D, dtype=torch.float64) for n in (3, 5, 5))
    output, weights = found.of(list(module.parameters()), H)(query, key, value)
    wanted, wanted_weights = module(query, key, value)
    assert torch.allclose(output, wanted, atol=1e-12) and torch.allclose(weights, wanted_weights, atol=1e-12)


def test_projections_that_are_no_arrangement_of_the_parameters_are_not_read():
    assert by_behaviour.find_projections(Here(), Attention(*[(D, D)] * 4, factor=0.5), D, H) is None


def test_an_attention_that_is_not_called_is_not_read():
    class Written(Attention):
        def forward(self, query, key, value, mask=None):
            return query, mask

    assert by_behaviour.find_projections(Here(), Written(*[(D, D)] * 4), D, H) is None


def test_places():
    numbers = torch.tensor([0.3, -1.0, 2.0, 0.5], dtype=torch.float64)
    assert places_of(torch.tensor([[2.0, -1.0]], dtype=torch.float64), numbers).tolist() == [[2, 1]]
    assert places_of(torch.tensor([0.4], dtype=torch.float64), numbers) is None
    assert places_of(torch.tensor([2.0, 2.0], dtype=torch.float64), numbers) is None  # each stands in one place
