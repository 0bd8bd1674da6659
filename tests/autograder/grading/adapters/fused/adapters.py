"""Turns boolean masks into what is added to the scores."""

import torch

from . import blocks


def additive(mask):
    return None if mask is None else torch.where(mask, 0.0, -1e9)


def scaled_dot_product_attention(query, key, value, mask=None):
    return blocks.softmax_attention(query, key, value, additive(mask))


class MultiHeadedAttention(blocks.FusedAttention):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)

    def forward(self, query, key, value, mask=None):
        return super().forward(query, key, value, additive(mask))
