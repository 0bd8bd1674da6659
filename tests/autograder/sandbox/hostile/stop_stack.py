"""Runs out of C stack in chained iterators, where Python does not count.

Bites: stop.
Earns: nothing.
"""

import itertools

import torch
from torch import nn


def attack(x, module):
    chained = iter(())
    for _ in range(1_000_000):
        chained = itertools.chain(chained)
    next(chained, None)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
