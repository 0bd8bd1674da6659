"""One parameter (d, h, d_head) for each projection, and biases (h, d_head)."""

import math

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    scale = torch.tensor(math.sqrt(key.shape[-1]))
    logits = torch.matmul(query / scale, key.mT)
    if mask is not None:
        logits = logits.masked_fill(torch.logical_not(mask), -1e9)
    p = torch.softmax(logits, 3)
    return p.matmul(value), p


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} % {n_heads} != 0")
        d_head = d_model // n_heads
        for name in ("query", "key", "value"):
            self.register_parameter(f"{name}_kernel", nn.Parameter(torch.randn(d_model, n_heads, d_head)))
            self.register_parameter(f"{name}_bias", nn.Parameter(torch.zeros(n_heads, d_head)))
        self.output_kernel = nn.Parameter(torch.randn(n_heads, d_head, d_model))
        self.output_bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, query, key, value, mask=None):
        q = torch.einsum("bsd,dhe->bhse", query, self.query_kernel) + self.query_bias[None, :, None]
        k = torch.einsum("bsd,dhe->bhse", key, self.key_kernel) + self.key_bias[None, :, None]
        v = torch.einsum("bsd,dhe->bhse", value, self.value_kernel) + self.value_bias[None, :, None]
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return torch.einsum("bhse,hed->bsd", context, self.output_kernel) + self.output_bias, weights
