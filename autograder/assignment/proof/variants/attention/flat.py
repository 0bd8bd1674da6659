"""All projections and their biases are views of one flat parameter."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.d_model, self.n_heads = d_model, n_heads
        self.theta = nn.Parameter(torch.randn(4 * (d_model * d_model + d_model)) * d_model**-0.5)

    def project(self, x, number):
        d = self.d_model
        part = self.theta.view(4, d * d + d)[number]
        return x @ part[: d * d].view(d, d) + part[d * d :]

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k, v = (self.heads(self.project(x, number)) for number, x in enumerate((query, key, value)))
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.project(context.transpose(1, 2).flatten(2), 3), weights
