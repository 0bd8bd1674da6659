"""What calls of a component leave behind is found, whether it is a function, a module or a method."""

import pytest
import torch
from torch import nn

from assignment.stand_ins import left_behind


class Component(nn.Module):
    """Doubles its argument, and does something else besides."""

    def __init__(self, other):
        super().__init__()
        self.other, self.dropout = other, nn.Dropout(0.5)

    def forward(self, x):
        self.other(self, x)
        return self.dropout(2 * x)


def keep(component, x):
    if hasattr(component, "kept"):
        component.kept.data.zero_()
    component.kept = x


CHANGES = {
    "nothing": (lambda component, x: None, ""),
    "gradients": (lambda component, x: torch.set_grad_enabled(False), "whether gradients are computed"),
    "a dtype": (lambda component, x: torch.set_default_dtype(torch.float16), "the default dtype"),
    "a seed": (lambda component, x: torch.default_generator.manual_seed(0), "the seed of random numbers"),
    "draws": (lambda component, x: torch.rand(2), ""),
    "no gradients": (lambda component, x: torch.is_grad_enabled() and 1 / 0, ""),
    "its mode": (lambda component, x: component.eval(), "the mode, train or eval"),
    "a part's mode": (lambda component, x: component.dropout.train(), "the mode, train or eval"),
    "an earlier argument": (keep, "an argument of an earlier call"),
}


@pytest.mark.parametrize("change, named", CHANGES.values(), ids=CHANGES)
def test_a_change_is_named_and_taken_back(change, named):
    component = Component(change).eval()
    before = torch.is_grad_enabled(), torch.get_default_dtype()
    random = torch.get_rng_state()
    seen = left_behind(component, "forward", [torch.ones(3)], [torch.zeros(3)])
    assert (not seen) if not named else seen.startswith(named)
    assert (torch.is_grad_enabled(), torch.get_default_dtype()) == before and torch.equal(random, torch.get_rng_state())
    assert not component.training and not component.dropout.training


def test_a_function_is_called_as_it_is():
    assert left_behind(torch.add, "", [torch.ones(2), torch.ones(2)], [torch.zeros(2), torch.ones(2)]) == ""
