"""The mask becomes numbers that are added; the factor is divided between query and key."""

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    root = query.size(-1) ** 0.25
    scores = (query / root) @ (key / root).transpose(2, 3)
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=scores.dtype)
        bias[mask.logical_not()] = torch.finfo(scores.dtype).min / 2
        scores = scores + bias
    weights = torch.nn.Softmax(dim=-1)(scores)
    context = torch.sum(weights.unsqueeze(-1) * value.unsqueeze(2), dim=3)
    return context, weights
