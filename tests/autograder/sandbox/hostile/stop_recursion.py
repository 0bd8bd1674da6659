"""Recurses in C, where Python does not count.

Bites: stop.
Earns: nothing.
"""

import sys

import torch
from torch import nn


def attack(x, module):
    sys.setrecursionlimit(10**9)
    deep = lambda depth: deep(depth + 1)  # noqa: E731
    deep(0)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
