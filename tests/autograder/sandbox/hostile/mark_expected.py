"""Replaces PyTorch's own layer norm, from which expected values are computed, by its own.

Bites: mark.
Earns: nothing.
"""

import torch
from torch import nn


def attack(x, module):
    nn.functional.layer_norm = lambda x, *arguments, **options: torch.zeros_like(x)


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        attack(x, self)
        return torch.zeros_like(x)
