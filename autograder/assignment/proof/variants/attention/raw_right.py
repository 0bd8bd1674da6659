"""Bare matrices (d_in, d_out) on the right of x, without biases."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.Wq = nn.Parameter(torch.randn(d_model, d_model) * 0.1)
        self.Wk = nn.Parameter(torch.randn(d_model, d_model) * 0.1)
        self.Wv = nn.Parameter(torch.randn(d_model, d_model) * 0.1)
        self.Wo = nn.Parameter(torch.randn(d_model, d_model) * 0.1)

    def forward(self, query, key, value, mask=None):
        b = query.size(0)
        q = (query @ self.Wq).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        k = (key @ self.Wk).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (value @ self.Wv).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return context.transpose(1, 2).flatten(2) @ self.Wo, weights
