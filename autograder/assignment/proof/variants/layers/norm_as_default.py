"""The kind of norm is a default argument, bound at import, so that no stand-in can replace it."""

from torch import nn

from .attention import MultiHeadedAttention
from .layers import FeedForward, LayerNorm


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False, norm=LayerNorm):
        super().__init__()
        self.attention = MultiHeadedAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = norm(d_model), norm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, mask):
        if self.norm_first:
            y = self.norm1(x)
            y, weights = self.attention(y, y, y, mask)
            x = x + self.dropout(y)
            return x + self.dropout(self.feed_forward(self.norm2(x))), weights
        y, weights = self.attention(x, x, x, mask)
        x = self.norm1(x + self.dropout(y))
        return self.norm2(x + self.dropout(self.feed_forward(x))), weights


class DecoderLayer(nn.Module):
    norm_class = LayerNorm

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attention = MultiHeadedAttention(d_model, n_heads)
        self.cross_attention = MultiHeadedAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(self.norm_class(d_model) for _ in range(3))
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, memory, src_mask, tgt_mask):
        n1, n2, n3 = self.norms
        if self.norm_first:
            y = n1(x)
            y, own = self.self_attention(y, y, y, tgt_mask)
            x = x + self.dropout(y)
            y, cross = self.cross_attention(n2(x), memory, memory, src_mask)
            x = x + self.dropout(y)
            return x + self.dropout(self.feed_forward(n3(x))), own, cross
        y, own = self.self_attention(x, x, x, tgt_mask)
        x = n1(x + self.dropout(y))
        y, cross = self.cross_attention(x, memory, memory, src_mask)
        x = n2(x + self.dropout(y))
        return n3(x + self.dropout(self.feed_forward(x))), own, cross
