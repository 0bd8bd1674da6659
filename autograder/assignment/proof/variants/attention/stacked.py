"""All four matrices are one parameter (4, d, d), all biases another."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.h = n_heads
        self.weight = nn.Parameter(torch.randn(4, d_model, d_model) * d_model**-0.5)
        self.bias = nn.Parameter(torch.zeros(4, d_model))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            (x @ self.weight[i] + self.bias[i]).unflatten(-1, (self.h, -1)).transpose(1, 2)
            for i, x in enumerate((query, key, value))
        )
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return context.transpose(1, 2).flatten(2) @ self.weight[3] + self.bias[3], weights
