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


# %% infinity_then_zero
# -inf; rows with nothing to attend to get weights and context of 0.


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


# %% infinity_with_care
# -inf, after unmasking the rows with nothing to attend to.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query.matmul(key.transpose(-2, -1)).div(math.sqrt(key.size(-1)))
    if mask is not None:
        nothing = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~(mask | nothing), float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights.matmul(value), weights


# %% penalty
# (1 - mask) * -1e9 as in Keras; a softmax by logsumexp.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + (1.0 - mask.to(scores.dtype)) * -1e9
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return torch.einsum("...qk,...kd->...qd", weights, value), weights


# %% products
# Scores and averages as sums of products of five axes: right, and takes far more memory than a matrix product.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = (query[:, :, :, None] * key[:, :, None]).sum(dim=-1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e20)
    weights = scores.softmax(dim=-1)
    return (weights[..., None] * value[:, :, None]).sum(dim=-2), weights


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
