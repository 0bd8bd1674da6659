"""Gain and shift of a feature lie side by side in one flat parameter."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.numbers = nn.Parameter(torch.tensor([1.0, 0.0]).repeat(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        normed = centred * (centred.square().mean(dim=-1, keepdim=True) + self.epsilon).rsqrt()
        return normed * self.numbers[0::2] + self.numbers[1::2]
