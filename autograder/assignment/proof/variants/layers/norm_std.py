"""The population standard deviation, squared again; unusual names; the feed-forward network is an nn.Sequential."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super(LayerNorm, self).__init__()  # noqa: UP008
        self.a_2 = nn.Parameter(torch.ones(d_model))
        self.b_2 = nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True, correction=0)
        return self.a_2 * (x - mean) / (std.pow(2) + self.epsilon) ** 0.5 + self.b_2


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super(FeedForward, self).__init__()  # noqa: UP008
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))

    def forward(self, x):
        return self.net(x)
