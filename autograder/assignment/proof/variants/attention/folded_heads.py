"""Heads are folded into the batch for torch.bmm; the class does not call the function."""

import torch
from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    b, h, q, d = query.shape
    k = key.size(2)
    scores = torch.bmm(query.reshape(b * h, q, d), key.reshape(b * h, k, d).transpose(1, 2)).view(b, h, q, k)
    scores = scores / d**0.5
    if mask is not None:
        scores.masked_fill_(~mask, -1e9)
    weights = nn.functional.softmax(scores, dim=-1)
    return torch.bmm(weights.view(b * h, q, k), value.reshape(b * h, k, -1)).view(b, h, q, -1), weights


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.h, self.dk = n_heads, d_model // n_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def fold(self, x):
        b, s, _ = x.shape
        return x.view(b, s, self.h, self.dk).permute(0, 2, 1, 3).reshape(b * self.h, s, self.dk)

    def forward(self, query, key, value, mask=None):
        b, t, d = query.shape
        s = key.size(1)
        q, k, v = self.fold(self.wq(query)), self.fold(self.wk(key)), self.fold(self.wv(value))
        scores = torch.bmm(q, k.transpose(1, 2)) / self.dk**0.5
        if mask is not None:
            mask = mask.expand(b, self.h, t, s).reshape(b * self.h, t, s)
            scores = scores.masked_fill(mask.logical_not(), -1e4)
        weights = scores.softmax(-1)
        x = torch.bmm(weights, v).view(b, self.h, t, self.dk)
        return self.wo(x.transpose(1, 2).reshape(b, t, d)), weights.view(b, self.h, t, s)
