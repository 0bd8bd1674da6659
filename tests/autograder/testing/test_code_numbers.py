"""Sizes that stand in a component's code become sizes of its inputs."""

import pytest

from autograder.testing.code_numbers import numbers_of

CONTRACT = {"layers": ["LayerNorm", "FeedForward"], "model": ["Encoder"]}
LAYERS = """
from torch import nn
from .tools.limits import WIDEST as widest, narrowest
from .model import Encoder
LIMIT = OTHER = 128

class LayerNorm(nn.Module):
    def forward(self, x, most=50):
        if not x.size(1) <= LIMIT or x.dim() == 3:
            return x * -99 + 1e9
        return Encoder(widest) if x.numel() == 1e4 else FeedForward()

class FeedForward(nn.Module):
    size: int = 64

def narrow(x):
    return x.size(0) < narrowest()
"""
SOURCES = {
    "__init__": ("__init__.py", ""),
    "layers": ("layers.py", LAYERS),
    "model": ("model.py", "from .layers import narrow\ndef Encoder(x): return narrow(x) or 77\n"),
    "tools": ("tools/__init__.py", "from .limits import *\n"),
    "tools.limits": ("tools/limits.py", "from .deep import deepest\nWIDEST = 300\ndef narrowest(): return deepest\n"),
    "tools.deep": ("tools/deep.py", "from . import limits\nfrom ..model import Encoder\ndeepest: int = 20\n"),
}


@pytest.mark.parametrize(
    ("component", "found"),
    [("layers.LayerNorm", [128, 300, 10_000]), ("layers.FeedForward", [64]), ("model.Encoder", [20, 77])],
)
def test_numbers_of_a_component_and_of_what_it_names(component, found):
    """Those of other components do not count, nor defaults, nor small, negative and very large ones."""
    assert numbers_of(SOURCES, CONTRACT, component) == found


def test_operations_on_two_numbers_count_by_their_result():
    code = "def look(x):\n    return x in (2**8, 3 * 11, 10**9, 9 // 0, 7 ** -1, 10 ** 9 ** 9, 1 - 40)\n"
    assert numbers_of({"masks": ("masks.py", code)}, {}, "masks.look") == [7, 8, 9, 10, 11, 33, 40, 256]


def test_small_numbers_count_where_they_are_asked_for():
    code = "class Stack:\n    limit = 3\n"
    assert numbers_of({"model": ("model.py", code)}, {}, "model.Stack", least=3) == [3]
    assert numbers_of({"model": ("model.py", code)}, {}, "model.Stack") == []


def test_code_that_cannot_be_read_has_none():
    assert numbers_of({"layers": ("layers.py", "def (")}, CONTRACT, "layers.LayerNorm") == []
    assert numbers_of({}, CONTRACT, "layers.LayerNorm") == []


def test_the_reference_has_none(reference, assignment):
    components = [component for task in assignment.tasks for component in task.components]
    found = {component: numbers_of(reference, assignment.contract.modules, component) for component in components}
    assert not any(found.values()), found
