"""Attention that uses a freedom of its contract: a student's own test that demands more rejects one of these."""

from typing import NamedTuple

import torch
from torch import Tensor

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


# %% refuses_the_rest
# Whatever the docstring does not name is refused.


def scaled_dot_product_attention(query, key, value, mask=None):
    b, h, q, d = query.shape
    k = key.size(2)
    if key.shape != (b, h, k, d) or value.shape != key.shape or 0 in (*query.shape, k):
        raise ValueError("expected (b, h, q, d_k), and key and value (b, h, k, d_k)")
    if not {query.dtype, key.dtype, value.dtype} <= {torch.float32, torch.float64}:
        raise TypeError("expected float32 or float64")
    scores = query @ key.transpose(-2, -1) / d**0.5
    if mask is not None:
        if mask.dtype is not torch.bool:
            raise TypeError("expected a boolean mask")
        scores = scores.masked_fill(~mask.broadcast_to(b, h, q, k), torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
