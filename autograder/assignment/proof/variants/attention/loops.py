"""Loops over sentences and heads, with slices of the projected features."""

import math

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    b, h, q, d = query.shape
    k = key.shape[2]
    allowed = torch.ones(b, h, q, k, dtype=torch.bool) if mask is None else mask.expand(b, h, q, k)
    contexts, weights = [], []
    for i in range(b):
        for j in range(h):
            scores = torch.mm(query[i, j], key[i, j].t()) / math.sqrt(d)
            scores = scores.masked_fill(allowed[i, j] == False, -1e9)  # noqa: E712
            w = torch.softmax(scores, dim=1)
            weights.append(w)
            contexts.append(torch.mm(w, value[i, j]))
    return torch.stack(contexts).view(b, h, q, -1), torch.stack(weights).view(b, h, q, k)


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads")
        self.h, self.d_k = n_heads, d_model // n_heads
        self.O = nn.Linear(d_model, d_model)
        self.V = nn.Linear(d_model, d_model)
        self.K = nn.Linear(d_model, d_model)
        self.Q = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        Q, K, V = self.Q(query), self.K(key), self.V(value)
        heads, weights = [], []
        for i in range(self.h):
            part = slice(i * self.d_k, (i + 1) * self.d_k)
            head_mask = mask
            if mask is not None and mask.dim() == 4 and mask.size(1) > 1:
                head_mask = mask[:, i : i + 1]
            c, w = scaled_dot_product_attention(
                Q[:, None, :, part], K[:, None, :, part], V[:, None, :, part], head_mask
            )
            heads.append(c[:, 0])
            weights.append(w[:, 0])
        return self.O(torch.cat(heads, dim=-1)), torch.stack(weights, dim=1)
