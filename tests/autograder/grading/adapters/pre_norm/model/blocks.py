"""Pre-norm blocks: x + sublayer(norm(x))."""

import torch
from torch import nn

from .heads import Heads


class Standardise(nn.Module):
    def __init__(self, width, epsilon=1e-6):
        super().__init__()
        self.scale_and_shift = nn.Parameter(torch.stack([torch.ones(width), torch.zeros(width)]))
        self.epsilon = epsilon

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        spread = (centred.pow(2).mean(-1, keepdim=True) + self.epsilon).rsqrt()
        scale, shift = self.scale_and_shift
        return centred * spread * scale + shift


class Mlp(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.into, self.out = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return self.out(self.into(x).relu())


class EncoderBlock(nn.Module):
    def __init__(self, width, heads, inner, dropout):
        super().__init__()
        self.attention, self.mlp = Heads(width, heads), Mlp(width, inner)
        self.before_attention, self.before_mlp = Standardise(width), Standardise(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, allowed):
        normal = self.before_attention(x)
        attended, weights = self.attention(normal, normal, allowed)
        x = x + self.dropout(attended)
        return x + self.dropout(self.mlp(self.before_mlp(x))), weights
