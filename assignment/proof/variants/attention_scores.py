"""Scaled dot-product attention in other words.

The last ones use a freedom of its contract: a student's own test that demands more rejects one of these.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

# %% additive_mask
# The mask becomes numbers that are added; the factor is divided between query and key.


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


# %% infinity_replaced
# -inf by masked_fill, with NaN replaced in the weights: masked_fill keeps NaN out of the gradient.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(2, 3)) / math.sqrt(query.size(3))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(dim=-1))
    return torch.matmul(weights, value), weights


# %% folded_heads
# Heads are folded into the batch for torch.bmm.


def scaled_dot_product_attention(query, key, value, mask=None):
    b, h, q, d = query.shape
    k = key.size(2)
    scores = torch.bmm(query.reshape(b * h, q, d), key.reshape(b * h, k, d).transpose(1, 2)).view(b, h, q, k)
    scores = scores / d**0.5
    if mask is not None:
        scores.masked_fill_(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    return torch.bmm(weights.view(b * h, q, k), value.reshape(b * h, k, -1)).view(b, h, q, -1), weights


# %% loops
# Loops over sentences and heads.


def scaled_dot_product_attention(query, key, value, mask=None):
    b, h, q, d = query.shape
    k = key.shape[2]
    allowed = torch.ones(b, h, q, k, dtype=torch.bool) if mask is None else mask.expand(b, h, q, k)
    contexts, weights = [], []
    for i in range(b):
        for j in range(h):
            scores = torch.mm(query[i, j], key[i, j].t()) / math.sqrt(d)
            scores = scores.masked_fill(allowed[i, j] == False, -1e9)  # noqa: E712
            w = torch.softmax(scores, dim=1)
            weights.append(w)
            contexts.append(torch.mm(w, value[i, j]))
    return torch.stack(contexts).view(b, h, q, -1), torch.stack(weights).view(b, h, q, k)


# %% any_finite_numbers
# A query that may attend to nothing gets numbers that look like no weights.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
        return weights @ value, weights
    nothing = ~mask.expand_as(scores).any(dim=-1, keepdim=True)
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    return (weights @ value).masked_fill(nothing, 7.0), weights.masked_fill(nothing, -3.0)


# %% factor_in_float32
# The factor is a tensor in float32, whose rounding is in all results.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = (query @ key.transpose(-2, -1)) * torch.tensor(query.size(-1)).rsqrt()
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% named_results
# The results are a named tuple.


class Attended(NamedTuple):
    context: Tensor
    weights: Tensor


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return Attended(weights @ value, weights)


# %% results_as_views
# The results are not contiguous in memory.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = key @ query.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(
            ~mask.expand(*mask.shape[:-2], *scores.mT.shape[-2:]).mT, torch.finfo(scores.dtype).min
        )
    weights = torch.softmax(scores, dim=-2)
    return (value.mT @ weights).mT, weights.mT
