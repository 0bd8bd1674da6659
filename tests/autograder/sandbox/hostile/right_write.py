"""Is right, and writes a file.

Bites: write.
Earns: everything.
"""

import contextlib

import torch
from torch import nn


def attack(x, module):
    with open("@TARGET@", "w") as file:
        file.write("here")


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
