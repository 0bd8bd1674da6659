"""Layers and their parts in other words and layouts.

`norm_with_root_in_float32` to `norm_one_of_each` use a freedom of the contract: a student's own test that demands more
rejects one of these.
"""

import torch
import torch.nn.functional as F
from torch import nn

from .attention import MultiHeadedAttention
from .layers import FeedForward, LayerNorm


class Norm(nn.Module):
    """What most of these have in common: gain, shift and epsilon."""

    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        return self.gamma * self.normed(x) + self.beta


class OwnDropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0:
            return x
        return x * (torch.rand_like(x) >= self.p) / (1 - self.p)


class Sublayers(nn.Module):
    """Sublayers with a norm before or after each, and dropout written by hand."""

    def __init__(self, dropout, norm_first):
        super().__init__()
        self.dropout, self.norm_first = OwnDropout(dropout), norm_first

    def add(self, norm, x, sublayer):
        out, weights = sublayer(norm(x) if self.norm_first else x)
        x = x + self.dropout(out)
        return (x if self.norm_first else norm(x)), weights


# %% norm_gain_as_difference
# The gain is learned as its difference from 1; mean and variance are updated feature by feature (Welford).


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.epsilon = epsilon
        self.change = nn.Parameter(torch.zeros(2, d_model))

    def forward(self, x):
        change, shift = self.change
        mean = squares = torch.zeros_like(x[..., 0])
        for count, feature in enumerate(x.unbind(-1), start=1):
            step = feature - mean
            mean = mean + step / count
            squares = squares + step * (feature - mean)
        deviation = (squares / x.size(-1) + self.epsilon).sqrt()
        return (1 + change) * (x - mean.unsqueeze(-1)) / deviation.unsqueeze(-1) + shift


# %% norm_with_root_in_float32
# The root of d is a tensor in float32, whose rounding is in all results.


class LayerNorm(Norm):
    def normed(self, x):
        centred = x - x.mean(dim=-1, keepdim=True)
        squares = centred.square().sum(dim=-1, keepdim=True) + x.size(-1) * self.epsilon
        return centred * torch.tensor(x.size(-1)).sqrt() / squares.sqrt()


# %% norm_mean_of_squares
# Variance as E[x^2] - E[x]^2.


class LayerNorm(Norm):
    def normed(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        variance = (x.square().mean(dim=-1, keepdim=True) - mean.square()).clamp(min=0)
        return (x - mean) / torch.sqrt(variance + self.epsilon)


# %% norm_as_view
# The result is not contiguous in memory.


class LayerNorm(Norm):
    def normed(self, x):
        by_feature = x.movedim(-1, 0).clone(memory_format=torch.contiguous_format)
        centred = by_feature - by_feature.mean(dim=0)
        return (centred / (centred.square().mean(dim=0) + self.epsilon).sqrt()).movedim(0, -1)


# %% norm_refuses_the_rest
# Whatever the docstring does not name is refused.


class LayerNorm(Norm):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__(d_model, epsilon)
        if d_model < 1 or epsilon < 0:
            raise ValueError("expected at least one feature, and no negative epsilon")

    def normed(self, x):
        if x.size(-1) != self.gamma.numel() or not x.numel():
            raise ValueError(f"expected (..., {self.gamma.numel()})")
        if x.dtype not in (torch.float32, torch.float64) or x.dtype != self.gamma.dtype:
            raise TypeError("expected float32 or float64, as the parameters are")
        centred = x - x.mean(dim=-1, keepdim=True)
        return centred / (centred.square().mean(dim=-1, keepdim=True) + self.epsilon).sqrt()


# %% norm_one_of_each
# Gain and shift are lists of numbers, one parameter for each feature.


class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-6):
        super().__init__()
        self.gains = nn.ParameterList(torch.ones(1) for _ in range(d_model))
        self.shifts = nn.ParameterList(torch.zeros(1) for _ in range(d_model))
        self.epsilon = epsilon

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        normed = (x - mean) * (variance + self.epsilon).rsqrt()
        return normed * torch.cat([*self.gains]) + torch.cat([*self.shifts])


# %% feed_forward_convolutions
# Two convolutions of width one, as section 3.3 of the paper suggests, with dropout between them; it prints.


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.conv_1 = nn.Conv1d(d_model, d_ff, kernel_size=1)
        self.conv_2 = nn.Conv1d(d_ff, d_model, kernel_size=1)
        self.dropout = nn.Dropout(0.1)
        print("feed-forward", d_model, d_ff)

    def forward(self, x):
        y = self.conv_1(x.permute(0, 2, 1))
        return self.conv_2(self.dropout(torch.maximum(y, torch.zeros_like(y)))).permute(0, 2, 1)


# %% norm_as_default
# The kind of norm is a default argument, or an attribute of the class: bound at import, so no stand-in replaces it.


class EncoderLayer(Sublayers):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False, norm=LayerNorm):
        super().__init__(dropout, norm_first)
        self.attention = MultiHeadedAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(norm(d_model) for _ in range(2))

    def forward(self, x, mask):
        x, weights = self.add(self.norms[0], x, lambda y: self.attention(y, y, y, mask))
        x, _ = self.add(self.norms[1], x, lambda y: (self.feed_forward(y), None))
        return x, weights


class DecoderLayer(Sublayers):
    norm_class = LayerNorm

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm_first=False):
        super().__init__(dropout, norm_first)
        self.self_attention = MultiHeadedAttention(d_model, n_heads)
        self.cross_attention = MultiHeadedAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(self.norm_class(d_model) for _ in range(3))

    def forward(self, x, memory, src_mask, tgt_mask):
        x, own = self.add(self.norms[0], x, lambda y: self.self_attention(y, y, y, tgt_mask))
        x, cross = self.add(self.norms[1], x, lambda y: self.cross_attention(y, memory, memory, src_mask))
        x, _ = self.add(self.norms[2], x, lambda y: (self.feed_forward(y), None))
        return x, own, cross


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
