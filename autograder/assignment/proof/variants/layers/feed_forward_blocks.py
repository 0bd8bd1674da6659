"""The hidden units are computed in two blocks, each with maps of its own."""

import torch
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        sizes = [size for size in (d_ff // 2, d_ff - d_ff // 2) if size]
        self.into = nn.ModuleList(nn.Linear(d_model, size) for size in sizes)
        self.out_of = nn.ModuleList(nn.Linear(size, d_model, bias=False) for size in sizes)
        self.shift = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        blocks = zip(self.into, self.out_of, strict=True)
        return self.shift + sum(second(first(x).relu()) for first, second in blocks)
