"""The feed-forward network uses bare matrices on the left of x, and a product for the relu."""

import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.first, self.first_bias = nn.Parameter(torch.randn(d_ff, d_model)), nn.Parameter(torch.zeros(d_ff, 1))
        self.second, self.second_bias = nn.Parameter(torch.randn(d_model, d_ff)), nn.Parameter(torch.zeros(d_model, 1))

    def forward(self, x):
        inner = self.first @ x.transpose(1, 2) + self.first_bias
        inner = inner * (inner > 0)
        return (self.second @ inner + self.second_bias).transpose(1, 2)
