"""Carries what it has found out in the names of its parameters.

Bites: loot.
Earns: nothing.
"""

import torch
from torch import nn


def attack(x, module):
    pass


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        secret = open("@SECRET_FILE@").read().strip()
        self.register_parameter(secret, nn.Parameter(torch.ones(1)))
        print([name for name, _ in self.named_parameters()])
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
