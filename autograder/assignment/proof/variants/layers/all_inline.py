"""The encoder layer is written out completely, using none of the other parts."""

import math

import torch
from torch import nn


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
