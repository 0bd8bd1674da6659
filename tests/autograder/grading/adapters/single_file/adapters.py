"""Where the components of `transformer.py` are, and what their masks mean there."""

from . import transformer as mine


def scaled_dot_product_attention(query, key, value, mask=None):
    return mine.attend(query, key, value, None if mask is None else ~mask)


class MultiHeadedAttention(mine.Attention):
    def __init__(self, d_model, n_heads):
        super().__init__(n_heads, d_model)

    def forward(self, query, key, value, mask=None):
        return super().forward(query, key, value, None if mask is None else ~mask)


def LayerNorm(d_model, epsilon=1e-6):
    return mine.Norm(d_model, epsilon)
