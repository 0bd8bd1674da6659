"""Says that it has parameters of whole numbers.

Bites: the protocol.
Earns: nothing.
"""

import sys

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.table = nn.Parameter(torch.ones(d_model, dtype=torch.int64), requires_grad=False)
        sys.modules["worker.objects"].LEARNED += (torch.int64,)

    def forward(self, x):
        return torch.zeros_like(x)
