"""All numbers are views of one flat parameter."""

import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.sizes = [d_model * d_ff, d_ff, d_ff * d_model, d_model]
        self.shape = d_model, d_ff
        self.theta = nn.Parameter(torch.randn(sum(self.sizes)) * 0.05)

    def forward(self, x):
        d_model, d_ff = self.shape
        first, inner, second, outer = self.theta.split(self.sizes)
        return torch.relu(x @ first.view(d_model, d_ff) + inner) @ second.view(d_ff, d_model) + outer
