"""-inf by masked_fill, with NaN replaced in the weights: masked_fill keeps NaN out of the gradient."""

import math

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.size(3))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(dim=-1))
    return torch.matmul(weights, value), weights
