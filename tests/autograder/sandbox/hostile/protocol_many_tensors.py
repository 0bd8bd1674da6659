"""Sends a body that describes a million empty tensors.

Bites: the protocol.
Earns: nothing.
"""

import json
import sys

import torch
from torch import nn


def attack(x, module):
    service = sys.modules["worker.service"]
    pack = service.pack

    def forged(header, body=b""):
        text = json.dumps(
            {str(i): {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(200_000)}
        ).encode()
        return pack(header, len(text).to_bytes(8, "little") + text)

    service.pack = forged


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
