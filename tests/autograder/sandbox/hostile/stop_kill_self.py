"""Kills itself.

Bites: stop.
Earns: nothing.
"""

import os
import signal

import torch
from torch import nn


def attack(x, module):
    os.kill(os.getpid(), signal.SIGKILL)
    signal.raise_signal(signal.SIGKILL)
    os._exit(1)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
