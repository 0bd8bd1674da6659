"""The decoder layer is written out completely, using none of the other parts."""

import math

import torch
from torch import nn


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
