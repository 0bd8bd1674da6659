"""The class writes attention out instead of calling the function; the softmax is written out too."""

import math

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[3])
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -1e20)
    exponentials = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return weights @ value, weights


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.projections = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("v", "k", "q", "o")})

    def forward(self, query, key, value, mask=None):
        b, t, d = query.shape
        d_head = d // self.n_heads
        q = self.projections["q"](query).reshape(b, t, self.n_heads, d_head).transpose(1, 2)
        k = self.projections["k"](key).reshape(b, -1, self.n_heads, d_head).transpose(1, 2)
        v = self.projections["v"](value).reshape(b, -1, self.n_heads, d_head).transpose(1, 2)
        logits = (q @ k.transpose(2, 3)) * (1.0 / math.sqrt(d_head))
        if mask is not None:
            logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
        shifted = (logits - logits.amax(dim=-1, keepdim=True)).exp()
        weights = shifted / shifted.sum(-1, keepdim=True)
        return self.projections["o"]((weights @ v).transpose(1, 2).flatten(2)), weights
