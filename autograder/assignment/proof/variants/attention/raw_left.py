"""Bare matrices (d_out, d_in) on the left of x, with bare biases that are declared after all matrices."""

import torch
from torch import nn

from .attention import scaled_dot_product_attention  # noqa: F401


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.w_o, self.w_v, self.w_k, self.w_q = (
            nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(d_model, d_model))) for _ in range(4)
        )
        self.b_q, self.b_k, self.b_v, self.b_o = (nn.Parameter(torch.zeros(d_model)) for _ in range(4))

    def apply_left(self, w, x, b):
        return (w @ x.transpose(-1, -2)).transpose(-1, -2) + b

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.apply_left(w, x, b).unflatten(2, (self.n_heads, -1)).permute(0, 2, 1, 3)
            for w, x, b in ((self.w_q, query, self.b_q), (self.w_k, key, self.b_k), (self.w_v, value, self.b_v))
        )
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.apply_left(self.w_o, context.transpose(1, 2).flatten(2), self.b_o), weights
