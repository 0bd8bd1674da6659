"""Encoder and decoder layers made of other blocks."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

from .attention import MultiHeadedAttention
from .layers import EncoderLayer, FeedForward, LayerNorm

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
