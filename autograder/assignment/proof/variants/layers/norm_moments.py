"""Variance as E[x^2] - E[x]^2; shapes and types are checked; the feed-forward network has dropout inside."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.d_model = d_model
        self.register_buffer("eps", torch.tensor(epsilon, dtype=torch.float64))
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))
        self.bias = nn.Parameter(torch.full((d_model,), 0.0))

    def forward(self, x):
        assert x.size(-1) == self.d_model and x.is_floating_point()
        mean = x.sum(dim=-1, keepdim=True) / self.d_model
        variance = (x * x).sum(dim=-1, keepdim=True) / self.d_model - mean**2
        root = torch.sqrt(variance.clamp(min=0) + self.eps.to(x.dtype))
        return torch.addcmul(self.bias, self.weight, (x - mean) / root)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.w_2(self.dropout(self.w_1(x).relu()))
