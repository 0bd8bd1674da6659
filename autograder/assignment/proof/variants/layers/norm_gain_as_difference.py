"""The gain is learned as its difference from 1; mean and variance are updated feature by feature (Welford)."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.epsilon = epsilon
        self.change = nn.Parameter(torch.zeros(2, d_model))

    def forward(self, x):
        change, shift = self.change
        mean = squares = torch.zeros_like(x[..., 0])
        for count, feature in enumerate(x.unbind(-1), start=1):
            step = feature - mean
            mean = mean + step / count
            squares = squares + step * (feature - mean)
        deviation = (squares / x.size(-1) + self.epsilon).sqrt()
        return (1 + change) * (x - mean.unsqueeze(-1)) / deviation.unsqueeze(-1) + shift
