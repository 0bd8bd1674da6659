"""Attention as a list of single heads, each with projections of its own."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width, size):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, size) for _ in range(3))

    def forward(self, x, context, allowed):
        scores = self.query(x) @ self.key(context).mT * self.query.out_features**-0.5
        if allowed is not None:
            scores = torch.where(allowed, scores, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        return weights @ self.value(context), weights


class Heads(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        if width % count:
            raise ValueError(f"{count} heads do not divide a width of {width}")
        self.heads = nn.ModuleList(Head(width, width // count) for _ in range(count))
        self.mix = nn.Linear(width, width)

    def forward(self, x, context, allowed):
        per_head = [None] * len(self.heads)
        if allowed is not None:
            per_head = (
                allowed.expand(-1, len(self.heads), -1, -1).unbind(1)
                if allowed.dim() == 4
                else [allowed] * len(per_head)
            )
        found = [head(x, context, mask) for head, mask in zip(self.heads, per_head, strict=True)]
        return self.mix(torch.cat([one for one, _ in found], -1)), torch.stack([weights for _, weights in found], 1)
