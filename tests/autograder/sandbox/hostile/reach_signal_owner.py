"""Makes the kernel send a signal to the parent when a pipe is ready (F_SETOWN).

Bites: reach.
Earns: nothing.
"""

import fcntl
import os

import torch
from torch import nn


def attack(x, module):
    fcntl.fcntl(1, 8, os.getppid())
    print("REACHED")


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
