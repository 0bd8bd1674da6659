"""Three lists of small linear maps with biases, one map for each head."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        d_head = d_model // n_heads
        self.queries = nn.ModuleList([nn.Linear(d_model, d_head) for _ in range(n_heads)])
        self.keys = nn.ModuleList([nn.Linear(d_model, d_head) for _ in range(n_heads)])
        self.values = nn.ModuleList([nn.Linear(d_model, d_head) for _ in range(n_heads)])
        self.output = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        context, weights = scaled_dot_product_attention(
            torch.stack([m(query) for m in self.queries], 1),
            torch.stack([m(key) for m in self.keys], 1),
            torch.stack([m(value) for m in self.values], 1),
            mask,
        )
        return self.output(context.transpose(1, 2).flatten(2)), weights
