"""Gain and shift are the rows of one parameter."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.epsilon = epsilon
        self.both = nn.Parameter(torch.stack([torch.ones(d_model), torch.zeros(d_model)]))

    def forward(self, x):
        spread, middle = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
        return torch.addcmul(self.both[1], self.both[0], (x - middle) * (spread + self.epsilon).rsqrt())
