"""Each bias is a further row of its matrix, and x gets a further feature 1."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.maps = nn.ParameterList(torch.randn(d_model + 1, d_model) * d_model**-0.5 for _ in range(4))

    def apply_map(self, x, number):
        return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1) @ self.maps[number]

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.apply_map(x, number).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for number, x in enumerate((query, key, value))
        )
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.apply_map(context.transpose(1, 2).flatten(2), 3), weights
