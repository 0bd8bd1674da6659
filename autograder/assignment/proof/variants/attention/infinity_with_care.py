"""-inf, after unmasking the rows with nothing to attend to."""

import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query.matmul(key.transpose(-2, -1)).div(math.sqrt(key.size(-1)))
    if mask is not None:
        nothing = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~(mask | nothing), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights.matmul(value), weights
