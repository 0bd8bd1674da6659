"""Blocks own sublayer, norm and dropout; keyword arguments everywhere; functional dropout."""

import torch.nn.functional as F
from torch import nn

from .attention import MultiHeadedAttention
from .layers import FeedForward, LayerNorm


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


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.ff = FeedForwardBlock(FeedForward(d_model=d_model, d_ff=d_ff), d_model, dropout, norm_first)
        attention = MultiHeadedAttention(d_model=d_model, n_heads=n_heads)
        self.attention = AttentionBlock(attention, d_model, dropout, norm_first)

    def forward(self, x, mask):
        x, weights = self.attention(x, mask)
        return self.ff(x), weights


class DecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__()
        self.cross = AttentionBlock(MultiHeadedAttention(d_model, n_heads), d_model, dropout, norm_first)
        self.attention = AttentionBlock(MultiHeadedAttention(d_model, n_heads), d_model, dropout, norm_first)
        self.ff = FeedForwardBlock(FeedForward(d_model, d_ff), d_model, dropout, norm_first)

    def forward(self, x, memory, src_mask, tgt_mask):
        x, first = self.attention(x, tgt_mask)
        x, second = self.cross(x, src_mask, memory)
        return self.ff(x), first, second
