"""A helper class owns norm and dropout of each sublayer and takes the sublayer as a function."""

from torch import nn

from .attention import MultiHeadedAttention
from .layers import FeedForward, LayerNorm


class SublayerConnection(nn.Module):
    def __init__(self, size, dropout, norm_first):
        super().__init__()
        self.norm = LayerNorm(size)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attn = MultiHeadedAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.sublayer = nn.ModuleList([SublayerConnection(d_model, dropout, norm_first) for _ in range(2)])

    def forward(self, x, mask):
        kept = {}

        def attend(y):
            out, kept["weights"] = self.self_attn(y, y, y, mask)
            return out

        x = self.sublayer[0](x, attend)
        return self.sublayer[1](x, self.feed_forward), kept["weights"]


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.sublayer = nn.ModuleList([SublayerConnection(d_model, dropout, norm_first) for _ in range(3)])
        self.feed_forward = FeedForward(d_model, d_ff)
        self.src_attn = MultiHeadedAttention(d_model, n_heads)
        self.self_attn = MultiHeadedAttention(d_model, n_heads)

    def forward(self, x, memory, src_mask, tgt_mask):
        weights = []

        def first(y):
            out, w = self.self_attn(y, y, y, tgt_mask)
            weights.append(w)
            return out

        def second(y):
            out, w = self.src_attn(y, memory, memory, src_mask)
            weights.append(w)
            return out

        x = self.sublayer[0](x, first)
        x = self.sublayer[1](x, second)
        x = self.sublayer[2](x, lambda y: self.feed_forward(y))
        return x, weights[0], weights[1]
