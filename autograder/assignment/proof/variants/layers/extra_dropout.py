"""The layers pass their dropout rate to attention and feed-forward network, which take it as an extra argument."""

from torch import nn

from .attention import MultiHeadedAttention
from .layers import LayerNorm


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.a, self.b = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.b(self.dropout(nn.functional.relu(self.a(x))))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.mha = MultiHeadedAttention(d_model, n_heads, dropout)
        self.ff = FeedForward(d_model, d_ff, dropout=dropout)
        self.ln1, self.ln2 = LayerNorm(d_model), LayerNorm(d_model)
        self.do1, self.do2 = nn.Dropout(dropout), nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, mask):
        if self.norm_first:
            n = self.ln1(x)
            a, w = self.mha(n, n, n, mask)
            x = x + self.do1(a)
            return x + self.do2(self.ff(self.ln2(x))), w
        a, w = self.mha(x, x, x, mask)
        x = self.ln1(x + self.do1(a))
        return self.ln2(x + self.do2(self.ff(x))), w


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.mha1 = MultiHeadedAttention(d_model, n_heads, dropout=dropout)
        self.mha2 = MultiHeadedAttention(d_model, n_heads, dropout=dropout)
        self.ff = FeedForward(d_model, d_ff, dropout)
        self.ln1, self.ln2, self.ln3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.do = nn.ModuleList([nn.Dropout(dropout)] * 3)
        self.norm_first = norm_first

    def forward(self, x, memory, src_mask, tgt_mask):
        if self.norm_first:
            n = self.ln1(x)
            a, w1 = self.mha1(n, n, n, tgt_mask)
            x = x + self.do[0](a)
            a, w2 = self.mha2(self.ln2(x), memory, memory, src_mask)
            x = x + self.do[1](a)
            return x + self.do[2](self.ff(self.ln3(x))), w1, w2
        a, w1 = self.mha1(x, x, x, tgt_mask)
        x = self.ln1(x + self.do[0](a))
        a, w2 = self.mha2(x, memory, memory, src_mask)
        x = self.ln2(x + self.do[1](a))
        return self.ln3(x + self.do[2](self.ff(x))), w1, w2
