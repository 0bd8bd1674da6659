"""A submission that does what the tests of the sandbox need; it solves nothing."""

import torch
from torch import nn

from .attention import MultiHeadedAttention


class LayerNorm(nn.Module):
    """Not a LayerNorm: a gain and a shift, with a loop over the features."""

    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.shift = nn.Parameter(torch.zeros(d_model))
        self.register_buffer("offset", torch.full((1,), epsilon))

    def forward(self, x):
        return torch.tanh(x) * self.gain + self.shift + self.offset


class FeedForward(nn.Module):
    """Dropout in training, two outputs, one of which has no gradient."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.project = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(0.5)
        self.frozen = nn.Parameter(torch.ones(1), requires_grad=False)

    def forward(self, x):
        y = self.dropout(self.project(x)) * self.frozen
        return {"y": y, "more": [y.sum(), (y > 0, 3, "text", None, 0.5)]}


class EncoderLayer(nn.Module):
    """Uses other components, its own or stand-ins."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = MultiHeadedAttention(d_model, n_heads)
        self.norm = LayerNorm(d_model)

    def forward(self, x, mask=None):
        context, weights = self.attention(x, x, x, mask)
        return self.norm(x + context), weights
