"""Makes itself slower or faster than others.

Bites: reach.
Earns: nothing.
"""

import os

import torch
from torch import nn


def attack(x, module):
    os.nice(1)
    print("REACHED")


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
