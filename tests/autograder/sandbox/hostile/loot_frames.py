"""Climbs the stack of calls and prints all names it finds there.

Bites: loot.
Earns: nothing.
"""

import sys

import torch
from torch import nn


def attack(x, module):
    frame = sys._getframe()
    while frame is not None:
        print({name: str(value)[:200] for name, value in {**frame.f_globals, **frame.f_locals}.items()})
        frame = frame.f_back


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
