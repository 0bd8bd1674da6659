"""Asks for a tensor of a terabyte, again and again.

Bites: stop.
Earns: nothing.
"""

import torch
from torch import nn


def attack(x, module):
    while True:
        try:
            torch.ones(1 << 38)
        except RuntimeError:
            continue


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
