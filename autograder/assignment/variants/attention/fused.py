"""Query, key and value come from one linear map, split into thirds."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.in_proj = nn.Linear(d_model, 3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        w_q, w_k, w_v = self.in_proj.weight.chunk(3)
        b_q, b_k, b_v = self.in_proj.bias.chunk(3)
        parts = []
        for x, w, bias in ((query, w_q, b_q), (key, w_k, b_k), (value, w_v, b_v)):
            y = torch.nn.functional.linear(x, w, bias)
            parts.append(y.view(x.size(0), x.size(1), self.n_heads, -1).transpose(1, 2))
        context, weights = scaled_dot_product_attention(*parts, mask)
        return self.out_proj(context.transpose(1, 2).flatten(2)), weights
