"""torch.var without Bessel's correction; shift before gain; parameters (1, 1, d)."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.b = nn.Parameter(torch.zeros(1, 1, d_model))
        self.g = nn.Parameter(torch.ones(1, 1, d_model))
        self.eps = epsilon

    def forward(self, x):
        mean = torch.mean(x, -1, keepdim=True)
        var = torch.var(x, dim=-1, unbiased=False, keepdim=True)
        y = (x - mean) * torch.rsqrt(var + self.eps) * self.g + self.b
        return y.reshape(x.shape)
