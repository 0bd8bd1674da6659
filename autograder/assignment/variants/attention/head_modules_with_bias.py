"""A module for each head whose linear maps have biases."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class OneHead(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.wq, self.wk, self.wv = (nn.Linear(d_model, d_head) for _ in range(3))


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.heads = nn.ModuleList(OneHead(d_model, d_model // n_heads) for _ in range(n_heads))
        self.wo = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        q = torch.stack([head.wq(query) for head in self.heads], dim=1)
        k = torch.stack([head.wk(key) for head in self.heads], dim=1)
        v = torch.stack([head.wv(value) for head in self.heads], dim=1)
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.wo(context.transpose(1, 2).flatten(2)), weights
