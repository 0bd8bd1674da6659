"""Encoder and decoder layers that write their parts out."""

import math

import torch
from torch import nn

from .attention import MultiHeadedAttention, scaled_dot_product_attention
from .layers import FeedForward, LayerNorm

# %% all_inline
# The encoder layer is written out completely, using none of the other parts.


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.ff1, self.ff2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.gain1, self.gain2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        self.shift1, self.shift2 = nn.Parameter(torch.zeros(d_model)), nn.Parameter(torch.zeros(d_model))
        self.p, self.h, self.norm_first = dropout, n_heads, norm_first

    def drop(self, x):
        return nn.functional.dropout(x, self.p, self.training)

    @staticmethod
    def norm(x, gain, shift):
        mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) / torch.sqrt(var + 1e-6) * gain + shift

    def attend(self, x, mask):
        q, k, v = (f(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        return self.o((weights @ v).transpose(1, 2).flatten(2)), weights

    def forward(self, x, mask):
        if self.norm_first:
            y, weights = self.attend(self.norm(x, self.gain1, self.shift1), mask)
            x = x + self.drop(y)
            return x + self.drop(self.ff2(self.ff1(self.norm(x, self.gain2, self.shift2)).relu())), weights
        y, weights = self.attend(x, mask)
        x = self.norm(x + self.drop(y), self.gain1, self.shift1)
        return self.norm(x + self.drop(self.ff2(self.ff1(x).relu())), self.gain2, self.shift2), weights


# %% decoder_all_inline
# The decoder layer is written out completely, using none of the other parts.


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.own = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.cross = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.widen, self.narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.gains = nn.ParameterList(torch.ones(d_model) for _ in range(3))
        self.shifts = nn.ParameterList(torch.zeros(d_model) for _ in range(3))
        self.rate, self.h, self.norm_first = dropout, n_heads, norm_first

    def norm(self, x, number):
        spread, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
        return (x - mean) / torch.sqrt(spread + 1e-6) * self.gains[number] + self.shifts[number]

    def attend(self, maps, x, source, mask):
        pairs = zip(maps[:3], (x, source, source), strict=True)
        q, k, v = (project(y).unflatten(-1, (self.h, -1)).transpose(1, 2) for project, y in pairs)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        return maps[3]((weights @ v).transpose(1, 2).flatten(2)), weights

    def forward(self, x, memory, src_mask, tgt_mask):
        seen = []

        def look(y):
            seen.append(self.attend(self.own, y, y, tgt_mask))
            return seen[-1][0]

        def ask(y):
            seen.append(self.attend(self.cross, y, memory, src_mask))
            return seen[-1][0]

        def think(y):
            return self.narrow(self.widen(y).relu())

        for number, sublayer in enumerate((look, ask, think)):
            out = sublayer(self.norm(x, number) if self.norm_first else x)
            x = x + nn.functional.dropout(out, self.rate, self.training)
            x = x if self.norm_first else self.norm(x, number)
        return x, seen[0][1], seen[1][1]


# %% inline_attention
# The encoder layer writes its attention out, with one fused linear map; norms and feed-forward network are parts.


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first, self.n_heads = norm_first, n_heads

    def attend(self, x, mask):
        q, k, v = (y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for y in self.qkv(x).chunk(3, dim=-1))
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out(context.transpose(1, 2).flatten(2)), weights

    def forward(self, x, mask):
        if self.norm_first:
            y, weights = self.attend(self.norm1(x), mask)
            x = x + self.dropout(y)
            return x + self.dropout(self.feed_forward(self.norm2(x))), weights
        y, weights = self.attend(x, mask)
        x = self.norm1(x + self.dropout(y))
        return self.norm2(x + self.dropout(self.feed_forward(x))), weights


# %% inline_feed_forward
# The feed-forward network is written out in the layers, as two linear maps of the layer itself.


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.attention = MultiHeadedAttention(d_model, n_heads)
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, mask):
        if self.norm_first:
            y = self.norm1(x)
            y, weights = self.attention(y, y, y, mask)
            x = x + self.dropout(y)
            return x + self.dropout(self.fc2(self.fc1(self.norm2(x)).relu())), weights
        y, weights = self.attention(x, x, x, mask)
        x = self.norm1(x + self.dropout(y))
        return self.norm2(x + self.dropout(self.fc2(self.fc1(x).relu()))), weights


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.self_attention = MultiHeadedAttention(d_model, n_heads)
        self.cross_attention = MultiHeadedAttention(d_model, n_heads)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, memory, src_mask, tgt_mask):
        if self.norm_first:
            y = self.norm1(x)
            y, own = self.self_attention(y, y, y, tgt_mask)
            x = x + self.dropout(y)
            y, cross = self.cross_attention(self.norm2(x), memory, memory, src_mask)
            x = x + self.dropout(y)
            return x + self.dropout(self.net(self.norm3(x))), own, cross
        y, own = self.self_attention(x, x, x, tgt_mask)
        x = self.norm1(x + self.dropout(y))
        y, cross = self.cross_attention(x, memory, memory, src_mask)
        x = self.norm2(x + self.dropout(y))
        return self.norm3(x + self.dropout(self.net(x))), own, cross


# %% norm_as_default
# The kind of norm is a default argument, bound at import, so that no stand-in can replace it.


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
