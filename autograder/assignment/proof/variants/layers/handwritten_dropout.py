"""Dropout is written by hand, as a module; the norms are deep copies of one; another order of construction."""

import copy

import torch
from torch import nn

from .attention import MultiHeadedAttention
from .layers import FeedForward, LayerNorm


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


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.attentions = nn.ModuleDict()
        for name in ("cross", "self"):
            self.attentions[name] = MultiHeadedAttention(d_model, n_heads)
        self.norms = nn.ModuleList(LayerNorm(d_model) for _ in range(3))
        self.ffn = FeedForward(d_model, d_ff)
        self.drop = OwnDropout(dropout)
        self.pre = norm_first

    def step(self, i, x, sublayer):
        y, *weights = sublayer(self.norms[i](x) if self.pre else x)
        x = x + self.drop(y)
        return (x if self.pre else self.norms[i](x)), weights

    def forward(self, x, memory, src_mask, tgt_mask):
        x, [w1] = self.step(0, x, lambda y: self.attentions["self"](y, y, y, tgt_mask))
        x, [w2] = self.step(1, x, lambda y: self.attentions["cross"](y, memory, memory, src_mask))
        x, _ = self.step(2, x, lambda y: (self.ffn(y),))
        return x, w1, w2
