"""-inf; rows with nothing to attend to get weights and context of 0."""

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = (query @ key.mT) / query.size(-1) ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        mask = mask.expand_as(scores)
        empty = ~mask.any(dim=-1, keepdim=True)
        scores = torch.where(empty, torch.zeros_like(scores), scores.masked_fill(~mask, -torch.inf))
        weights = torch.where(empty, torch.zeros_like(scores), scores.softmax(dim=-1))
    return weights @ value, weights
