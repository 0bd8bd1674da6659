"""A linear map for each head makes its query, key and value."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.heads = nn.ModuleList(nn.Linear(d_model, 3 * d_model // n_heads) for _ in range(n_heads))
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        parts = [
            torch.stack([head(x).chunk(3, dim=-1)[role] for head in self.heads], dim=1)
            for role, x in enumerate((query, key, value))
        ]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.proj(context.transpose(1, 2).flatten(2)), weights
