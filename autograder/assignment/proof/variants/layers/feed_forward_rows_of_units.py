"""Each row of one parameter is a hidden unit: what it reads, its bias, and what it writes."""

import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.units = nn.Parameter(torch.randn(d_ff, 2 * d_model + 1) * (d_model + d_ff) ** -0.5)
        self.rest = nn.Parameter(torch.zeros(1, 1, d_model))

    def forward(self, x):
        d_model = x.size(-1)
        reads, biases, writes = self.units.split([d_model, 1, d_model], dim=1)
        active = (torch.tensordot(x, reads, dims=([2], [1])) + biases.squeeze(1)).clamp_min(0)
        return torch.tensordot(active, writes, dims=1) + self.rest
