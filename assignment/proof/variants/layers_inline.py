"""Encoder and decoder layers that write their parts out."""

import math

import torch
from torch import nn

from .attention import MultiHeadedAttention, scaled_dot_product_attention
from .layers import FeedForward, LayerNorm


class Sublayers(nn.Module):
    """What these have in common: each sublayer is followed by dropout, and its norm comes before it or after it."""

    def __init__(self, dropout, norm_first):
        super().__init__()
        self.dropout, self.norm_first = nn.Dropout(dropout), norm_first

    def norm(self, x, number):
        return self.norms[number](x)

    def add(self, number, x, sublayer, *inputs):
        y = self.norm(x, number) if self.norm_first else x
        out, *weights = sublayer(y, *inputs)
        x = x + self.dropout(out)
        return (x if self.norm_first else self.norm(x, number)), *weights

    def attend(self, maps, x, source, mask):
        n_heads = self.n_heads
        pairs = zip(maps[:3], (x, source, source), strict=True)
        q, k, v = (project(y).unflatten(-1, (n_heads, -1)).transpose(1, 2) for project, y in pairs)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(-1)
        return maps[3]((weights @ v).transpose(1, 2).flatten(2)), weights


# %% decoder_all_inline
# The decoder layer is written out completely, using none of the other parts.


class DecoderLayer(Sublayers):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(dropout, norm_first)
        self.n_heads = n_heads
        self.own = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.cross = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.widen, self.narrow = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.gains = nn.ParameterList(torch.ones(d_model) for _ in range(3))
        self.shifts = nn.ParameterList(torch.zeros(d_model) for _ in range(3))

    def norm(self, x, number):
        spread, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
        return (x - mean) / torch.sqrt(spread + 1e-6) * self.gains[number] + self.shifts[number]

    def forward(self, x, memory, src_mask, tgt_mask):
        x, own = self.add(0, x, lambda y: self.attend(self.own, y, y, tgt_mask))
        x, cross = self.add(1, x, lambda y: self.attend(self.cross, y, memory, src_mask))
        [x] = self.add(2, x, lambda y: [self.narrow(self.widen(y).relu())])
        return x, own, cross


# %% inline_attention
# The encoder layer calls the attention itself, with one fused linear map; norms and feed-forward network are parts.


class EncoderLayer(Sublayers):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(dropout, norm_first)
        self.n_heads = n_heads
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(LayerNorm(d_model) for _ in range(2))

    def look(self, y, mask):
        q, k, v = (one.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for one in self.qkv(y).chunk(3, dim=-1))
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out(context.transpose(1, 2).flatten(2)), weights

    def forward(self, x, mask):
        x, weights = self.add(0, x, self.look, mask)
        return self.add(1, x, lambda y: [self.feed_forward(y)])[0], weights


# %% inline_feed_forward
# The feed-forward network is written out, as two linear maps of the layer itself.


class EncoderLayer(Sublayers):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(dropout, norm_first)
        self.attention = MultiHeadedAttention(d_model, n_heads)
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norms = nn.ModuleList(LayerNorm(d_model) for _ in range(2))

    def forward(self, x, mask):
        x, weights = self.add(0, x, lambda y: self.attention(y, y, y, mask))
        return self.add(1, x, lambda y: [self.fc2(self.fc1(y).relu())])[0], weights


# %% norm_as_default
# The kind of norm is a default argument, or an attribute of the class: bound at import, so no stand-in replaces it.


class EncoderLayer(Sublayers):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False, norm=LayerNorm):
        super().__init__(dropout, norm_first)
        self.attention = MultiHeadedAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(norm(d_model) for _ in range(2))

    def forward(self, x, mask):
        x, weights = self.add(0, x, lambda y: self.attention(y, y, y, mask))
        return self.add(1, x, lambda y: [self.feed_forward(y)])[0], weights


class DecoderLayer(Sublayers):
    norm_class = LayerNorm

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(dropout, norm_first)
        self.self_attention = MultiHeadedAttention(d_model, n_heads)
        self.cross_attention = MultiHeadedAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(self.norm_class(d_model) for _ in range(3))

    def forward(self, x, memory, src_mask, tgt_mask):
        x, own = self.add(0, x, lambda y: self.self_attention(y, y, y, tgt_mask))
        x, cross = self.add(1, x, lambda y: self.cross_attention(y, memory, memory, src_mask))
        return self.add(2, x, lambda y: [self.feed_forward(y)])[0], own, cross
