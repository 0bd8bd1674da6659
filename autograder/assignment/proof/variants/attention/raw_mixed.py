"""The input projections are bare matrices on the right of x; the output projection is an nn.Linear."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.q, self.k, self.v = (nn.Parameter(torch.randn(d_model, d_model)) for _ in range(3))
        self.o = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = []
        for x, w in ((query, self.q), (key, self.k), (value, self.v)):
            parts.append(torch.matmul(x, w).unflatten(-1, (self.n_heads, -1)).transpose(1, 2))
        context, weights = scaled_dot_product_attention(parts[0], parts[1], parts[2], mask)
        return self.o(context.transpose(1, 2).flatten(2)), weights
