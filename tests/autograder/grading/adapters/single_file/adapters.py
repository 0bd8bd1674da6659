"""Where the components of `transformer.py` are, and what their masks mean there."""

from torch import nn

from . import transformer as mine


def InputEmbedding(vocab_size, d_model):
    return mine.Embed(vocab_size, d_model)


def scaled_dot_product_attention(query, key, value, mask=None):
    return mine.attend(query, key, value, None if mask is None else ~mask)


class MultiHeadedAttention(mine.Attention):
    def __init__(self, d_model, n_heads):
        super().__init__(n_heads, d_model)

    def forward(self, query, key, value, mask=None):
        return super().forward(query, key, value, None if mask is None else ~mask)


def LayerNorm(d_model, epsilon=1e-6):
    return mine.Norm(d_model, epsilon)


def FeedForward(d_model, d_ff):
    return mine.Network(d_model, d_ff)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.block = mine.Block(d_model, n_heads, d_ff, dropout)

    def forward(self, x, mask):
        return self.block(x, None if mask is None else ~mask)
