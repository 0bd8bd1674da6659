"""A module for each head, in an nn.ModuleList, each with three small linear maps."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class Head(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.key = nn.Linear(d_model, d_head, bias=False)
        self.query = nn.Linear(d_model, d_head, bias=False)
        self.value = nn.Linear(d_model, d_head, bias=False)

    def forward(self, q, k, v, mask):
        q, k, v = self.query(q)[:, None], self.key(k)[:, None], self.value(v)[:, None]
        return scaled_dot_product_attention(q, k, v, mask)


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.heads = nn.ModuleList([Head(d_model, d_model // n_heads) for _ in range(n_heads)])
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        contexts, weights = [], []
        for i, head in enumerate(self.heads):
            own = mask[:, i : i + 1] if mask is not None and mask.dim() == 4 and mask.shape[1] > 1 else mask
            c, w = head(query, key, value, own)
            contexts.append(c)
            weights.append(w)
        context = torch.cat(contexts, dim=1)
        concatenated = context.transpose(1, 2).flatten(2)
        return self.proj(concatenated), torch.cat(weights, dim=1)
