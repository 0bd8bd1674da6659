"""Scaled dot-product attention in other words."""

import math
from typing import NamedTuple

import torch

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
# (1 - mask) * -1e9 as in Keras; a softmax by logsumexp; the results have names.


class Attended(NamedTuple):
    context: torch.Tensor
    weights: torch.Tensor


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + (1.0 - mask.to(scores.dtype)) * -1e9
    weights = torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))
    return Attended(torch.einsum("...qk,...kd->...qd", weights, value), weights)


# %% products
# Scores and averages as sums of products of five axes: right, and takes far more memory than a matrix product.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = (query[:, :, :, None] * key[:, :, None]).sum(dim=-1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e20)
    weights = scores.softmax(dim=-1)
    return (weights[..., None] * value[:, :, None]).sum(dim=-2), weights
