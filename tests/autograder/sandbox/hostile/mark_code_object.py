"""Replaces the code of the grader's comparing function in place.

Bites: mark.
Earns: nothing.
"""

import gc
import types

import torch
from torch import nn


def attack(x, module):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__ == "is_close":
            thing.__code__ = (lambda one, other: True).__code__


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
