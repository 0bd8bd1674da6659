"""Everything is an einsum; the projections are one parameter (h, d, d_head) each."""

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
    weights = scores.softmax(-1)
    return torch.einsum("bhqk,bhkd->bhqd", weights, value), weights


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        d_head = d_model // n_heads
        self.W_q = nn.Parameter(torch.randn(n_heads, d_model, d_head) / d_model**0.5)
        self.W_k = nn.Parameter(torch.randn(n_heads, d_model, d_head) / d_model**0.5)
        self.W_v = nn.Parameter(torch.randn(n_heads, d_model, d_head) / d_model**0.5)
        self.W_o = nn.Parameter(torch.randn(n_heads, d_head, d_model) / d_model**0.5)

    def forward(self, query, key, value, mask=None):
        q = torch.einsum("bsd,hde->bhse", query, self.W_q)
        k = torch.einsum("bsd,hde->bhse", key, self.W_k)
        v = torch.einsum("bsd,hde->bhse", value, self.W_v)
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return torch.einsum("bhse,hed->bsd", context, self.W_o), weights
