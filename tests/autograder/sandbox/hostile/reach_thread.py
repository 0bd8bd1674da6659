"""Starts a thread that goes on working after the call.

Bites: reach.
Earns: nothing.
"""

import threading

import torch
from torch import nn


def attack(x, module):
    threading.Thread(target=print, args=("REACHED",)).start()


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
