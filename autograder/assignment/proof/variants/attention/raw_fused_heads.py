"""One parameter (heads, d_model, 3 d_head), split along its last axis."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.into = nn.Parameter(torch.randn(n_heads, d_model, 3 * d_model // n_heads) / d_model**0.5)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = [(x.unsqueeze(1) @ self.into).chunk(3, dim=-1)[role] for role, x in enumerate((query, key, value))]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.out(context.transpose(1, 2).flatten(2)), weights
