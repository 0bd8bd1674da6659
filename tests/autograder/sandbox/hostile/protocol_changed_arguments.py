"""Says that arguments were changed that it was never given.

Bites: the protocol.
Earns: nothing.
"""

import sys

import torch
from torch import nn


def attack(x, module):
    service = sys.modules["worker.service"]
    pack = service.pack

    def forged(header, body=b""):
        if isinstance(header.get("result"), dict):
            header["result"]["changed"] = [0, 1, 2, -1]
        return pack(header, body)

    service.pack = forged


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
