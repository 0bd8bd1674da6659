"""Answers twice, so that each later request finds the answer to the one before.

Bites: the protocol.
Earns: nothing.
"""

import sys

import torch
from torch import nn


def attack(x, module):
    service = sys.modules["worker.service"]
    pack = service.pack
    service.pack = lambda header, body=b"": pack(header, body) * 2


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
