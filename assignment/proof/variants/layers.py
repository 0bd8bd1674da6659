"""Encoder and decoder layers made of other blocks, or with parts that they write out."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from .attention import MultiHeadedAttention, scaled_dot_product_attention
from .layers import EncoderLayer, FeedForward, LayerNorm


class Sublayers(nn.Module):
    """What those have in common that write parts out: dropout and a norm for each sublayer, before it or after it."""

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


# %% decoder_from_encoder
# The decoder layer inherits from the encoder layer and adds cross-attention; a dropout for each sublayer.


class DecoderLayer(EncoderLayer):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(d_model, n_heads, d_ff, dropout, norm_first)
        self.cross_attention = MultiHeadedAttention(d_model, n_heads)
        self.cross_norm = LayerNorm(d_model)
        self.drops = nn.ModuleList([nn.Dropout(dropout) for _ in range(3)])

    def forward(self, x, memory, src_mask, tgt_mask):
        if self.norm_first:
            y = self.attention_norm(x)
            y, own = self.attention(y, y, y, tgt_mask)
            x = x + self.drops[0](y)
            y, cross = self.cross_attention(self.cross_norm(x), memory, memory, src_mask)
            x = x + self.drops[1](y)
            return x + self.drops[2](self.feed_forward(self.feed_forward_norm(x))), own, cross
        y, own = self.attention(x, x, x, tgt_mask)
        x = self.attention_norm(x + self.drops[0](y))
        y, cross = self.cross_attention(x, memory, memory, src_mask)
        x = self.cross_norm(x + self.drops[1](y))
        return self.feed_forward_norm(x + self.drops[2](self.feed_forward(x))), own, cross


# %% extra_dropout
# The layers pass their dropout rate to attention and feed-forward network, which take it as an extra argument.


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


# %% handwritten_dropout
# Dropout is written by hand, as a module; the norms are deep copies of one; another order of construction.


class OwnDropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        keep = (torch.rand_like(x) >= self.p).to(x.dtype)
        return x * keep / (1 - self.p)


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        norm = LayerNorm(d_model)
        self.norms = nn.ModuleList([copy.deepcopy(norm) for _ in range(2)])
        self.drop = OwnDropout(dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.mha = MultiHeadedAttention(d_model, n_heads)
        self.pre = norm_first

    def forward(self, x, mask):
        residual = x
        y = self.norms[0](x) if self.pre else x
        y, weights = self.mha(y, y, y, mask)
        x = residual + self.drop(y)
        if not self.pre:
            x = self.norms[0](x)
        residual = x
        y = self.norms[1](x) if self.pre else x
        x = residual + self.drop(self.ffn(y))
        if not self.pre:
            x = self.norms[1](x)
        return [x, weights]


# %% residual_blocks
# Blocks own sublayer, norm and dropout; keyword arguments everywhere; functional dropout.


class Block(nn.Module):
    def __init__(self, layer, d_model, p, norm_first):
        super().__init__()
        self.p, self.norm_first = p, norm_first
        self.layer = layer
        self.ln = LayerNorm(d_model=d_model)

    def drop(self, y):
        return F.dropout(y, p=self.p, training=self.training)


class AttentionBlock(Block):
    def forward(self, x, mask, memory=None):
        q = self.ln(x) if self.norm_first else x
        kv = q if memory is None else memory
        out, weights = self.layer(query=q, key=kv, value=kv, mask=mask)
        x = self.drop(out) + x
        return (x if self.norm_first else self.ln(x)), weights


class FeedForwardBlock(Block):
    def forward(self, x):
        y = self.drop(self.layer(self.ln(x) if self.norm_first else x)) + x
        return y if self.norm_first else self.ln(y)


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        cross, own = (MultiHeadedAttention(d_model=d_model, n_heads=n_heads) for _ in range(2))
        self.cross = AttentionBlock(cross, d_model, dropout, norm_first)
        self.attention = AttentionBlock(own, d_model, dropout, norm_first)
        self.ff = FeedForwardBlock(FeedForward(d_model=d_model, d_ff=d_ff), d_model, dropout, norm_first)

    def forward(self, x, memory, src_mask, tgt_mask):
        x, first = self.attention(x, tgt_mask)
        x, second = self.cross(x, src_mask, memory)
        return self.ff(x), first, second
