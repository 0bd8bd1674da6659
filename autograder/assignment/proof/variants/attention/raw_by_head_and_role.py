"""One parameter (heads, roles, d_model, d_head) for the three projections."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.into = nn.Parameter(torch.randn(n_heads, 3, d_model, d_model // n_heads) / d_model**0.5)
        self.shift = nn.Parameter(torch.zeros(n_heads, 3, 1, d_model // n_heads))
        self.out = nn.Parameter(torch.randn(n_heads, d_model // n_heads, d_model) / d_model**0.5)

    def forward(self, query, key, value, mask=None):
        inputs = enumerate((query, key, value))
        parts = [x.unsqueeze(1) @ self.into[:, role] + self.shift[:, role] for role, x in inputs]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return (context @ self.out).sum(dim=1), weights
