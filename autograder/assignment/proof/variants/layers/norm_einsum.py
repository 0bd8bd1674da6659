"""Means by einsum; the feed-forward network uses bare matrices on the right of x."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(d_model))
        self.gain = nn.Parameter(torch.ones(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        n = x.shape[-1]
        centred = x - torch.einsum("...d->...", x).unsqueeze(-1) / n
        variance = torch.einsum("...d,...d->...", centred, centred).unsqueeze(-1) / n
        return self.shift + torch.einsum("...d,d->...d", centred / (variance + self.epsilon).sqrt(), self.gain)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.B2 = nn.Parameter(torch.zeros(d_model))
        self.W2 = nn.Parameter(torch.randn(d_ff, d_model) / d_ff**0.5)
        self.W1 = nn.Parameter(torch.randn(d_model, d_ff) / d_model**0.5)
        self.B1 = nn.Parameter(torch.zeros(d_ff))

    def forward(self, x):
        inner = x @ self.W1 + self.B1
        return inner.clamp(min=0) @ self.W2 + self.B2
