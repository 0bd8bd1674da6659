"""One matrix for all projections, and masks that are added to the scores."""

import torch
import torch.nn.functional as F
from torch import nn


def softmax_attention(q, k, v, bias=None):
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.size(-1) ** 0.5
    probabilities = (scores if bias is None else scores + bias).softmax(-1)
    return torch.einsum("bhqk,bhkd->bhqd", probabilities, v), probabilities


class FusedAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        if width % heads != 0:
            raise ValueError(f"width {width} must be a multiple of heads {heads}")
        self.heads = heads
        self.in_proj = nn.Linear(width, 3 * width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, query, key, value, bias):
        weights, shifts = self.in_proj.weight.chunk(3), self.in_proj.bias.chunk(3)
        projected = map(F.linear, (query, key, value), weights, shifts)
        q, k, v = (x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2) for x in projected)
        context, probabilities = softmax_attention(q, k, v, bias)
        return self.out_proj(context.transpose(1, 2).reshape(query.shape)), probabilities
