"""One parameter (h, 4, d_head, d): the three projections of each head, and its part of the output's."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be a multiple of n_heads")
        self.heads = nn.Parameter(torch.randn(n_heads, 4, d_model // n_heads, d_model) * d_model**-0.5)

    def forward(self, query, key, value, mask=None):
        *into, back = self.heads.unbind(1)
        parts = [torch.einsum("bnd,hed->bhne", x, one) for x, one in zip((query, key, value), into, strict=True)]
        context, weights = scaled_dot_product_attention(*parts, mask)
        return torch.einsum("bhqe,hed->bqd", context, back), weights
