"""Looks into the main module and all others for the secret.

Bites: loot.
Earns: nothing.
"""

import sys

import torch
from torch import nn


def attack(x, module):
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if "secret" in name.lower():
                print(name, value)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
