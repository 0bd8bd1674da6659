"""Code in another layout computes the same, and may be copied: else the proof of the diagnosis would prove nothing."""

import copy

import pytest
import torch

from autograder.assignment.diagnosis_layouts import LAYOUTS
from autograder.sandbox.worker.loading import Package
from autograder.testing.in_process import read_sources
from foundation.assignment_file import read_assignment
from foundation.places import REFERENCE

CONTRACT = read_assignment().contract
MADE = {
    "embedding.InputEmbedding": (7, 6),
    "attention.MultiHeadedAttention": (6, 2),
    "layers.LayerNorm": (6,),
    "layers.FeedForward": (6, 9),
}


@pytest.fixture(params=LAYOUTS)
def package(request):
    sources = LAYOUTS[request.param](read_sources(REFERENCE, REFERENCE))
    made = Package(sources, CONTRACT.modules, None, f"layout_{request.param.replace('-', '_')}")
    yield made
    made.close()


@pytest.mark.parametrize("component", MADE)
def test_a_copy_has_parameters_of_its_own(package, component):
    x = torch.randint(7, (2, 3)) if component.startswith("embedding") else torch.randn(2, 3, 6)
    inputs = (x, x, x) if component.startswith("attention") else (x,)

    def output(module):
        found = module(*inputs)
        return found[0] if isinstance(found, tuple) else found

    module = package.get(component)(*MADE[component]).eval()
    before = output(module)
    other = copy.deepcopy(module)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(1.0)
    assert torch.equal(output(module), before), "the copy's parameters are not the module's"
    assert not torch.allclose(output(other), before)
    other.load_state_dict(module.state_dict())
    assert torch.equal(output(other), before)
