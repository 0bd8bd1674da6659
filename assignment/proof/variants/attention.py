"""Attention in other words, and its heads in other layouts.

The first eight use a freedom of the contract: a student's own test that demands more rejects one of these.
"""

import copy
import math
from typing import NamedTuple, Optional

import torch
from torch import Tensor, einsum, nn
from torch.nn.functional import linear

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
# Whatever the docstring does not name is refused, in every call; annotated with Optional; a helper function.


def check(query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor]) -> None:  # noqa: UP045
    b, *between, q, d = query.shape
    if query.dim() != 4 or key.shape != (b, *between, key.size(-2), d) or value.shape != key.shape:
        raise ValueError("expected a query (…, q, d), and key and value (…, k, d)")
    if 0 in (*query.shape, *key.shape):
        raise ValueError("expected numbers")
    if not {query.dtype, key.dtype, value.dtype} <= {torch.float32, torch.float64}:
        raise TypeError("expected float32 or float64")
    if mask is not None and mask.dtype is not torch.bool:
        raise TypeError("expected a boolean mask")


def scaled_dot_product_attention(query, key, value, mask: Optional[Tensor] = None):  # noqa: UP045
    check(query, key, value, mask)
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.broadcast_to(scores.shape), torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


# %% clones
# Four clones of one linear map in a list; the weights are kept as an attribute; scores filled with -1e9.


def clones(module, n):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.1):
        super(MultiHeadedAttention, self).__init__()  # noqa: UP008
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.d_k = d_model // n_heads
        self.h = n_heads
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        nbatches = query.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip(self.linears, (query, key, value), strict=False)
        ]
        x, self.attn = scaled_dot_product_attention(query, key, value, mask, self.dropout)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x), self.attn


# %% einsum_with_bias
# Everything is an einsum with its axes in the formula; the heads are an axis of every parameter.


# --8<-- [start:einsum_with_bias]
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    scores = einsum("bhqe,bhke->bhqk", query, key) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    return einsum("bhqk,bhke->bhqe", weights, value), weights


class MultiHeadedAttention(nn.Module):
    """Parameters by head; d is a feature of the model, e one of a head."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model = {d_model} is not a multiple of n_heads = {n_heads}")
        d_head, bound = d_model // n_heads, 1 / math.sqrt(d_model)  # nn.Linear draws from the same range
        for role in ("query", "key", "value"):
            matrix = torch.empty(n_heads, d_model, d_head).uniform_(-bound, bound)
            self.register_parameter(f"{role}_weight", nn.Parameter(matrix))
            self.register_parameter(f"{role}_bias", nn.Parameter(torch.zeros(n_heads, 1, d_head)))
        self.output_weight = nn.Parameter(torch.empty(n_heads, d_head, d_model).uniform_(-bound, bound))
        self.output_bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q = einsum("bqd,hde->bhqe", query, self.query_weight) + self.query_bias
        k = einsum("bkd,hde->bhke", key, self.key_weight) + self.key_bias
        v = einsum("bkd,hde->bhke", value, self.value_weight) + self.value_bias
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        return einsum("bhqe,hed->bqd", context, self.output_weight) + self.output_bias, weights


# --8<-- [end:einsum_with_bias]


# %% fused
# One matrix for query, key and value: a single product in self-attention, two in cross-attention.


# --8<-- [start:fused]
class MultiHeadedAttention(nn.Module):
    """The rows of `project_inputs` are W^Q, W^K and W^V, one below the other."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model = {d_model} is not a multiple of n_heads = {n_heads}")
        self.n_heads = n_heads
        self.project_inputs = nn.Linear(d_model, 3 * d_model)
        self.project_output = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        weight, bias, d_model = self.project_inputs.weight, self.project_inputs.bias, query.size(-1)
        if query is key and key is value:  # self-attention
            q, k, v = self.project_inputs(query).chunk(3, dim=-1)  # each (b, positions, d)
        elif key is value:  # cross-attention
            q = linear(query, weight[:d_model], bias[:d_model])
            k, v = linear(key, weight[d_model:], bias[d_model:]).chunk(2, dim=-1)
        else:
            q, k, v = (
                linear(x, rows, shift)
                for x, rows, shift in zip((query, key, value), weight.chunk(3), bias.chunk(3), strict=True)
            )
        heads = [x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (q, k, v)]  # (b, h, positions, d_head)
        context, weights = scaled_dot_product_attention(*heads, mask)
        return self.project_output(context.transpose(1, 2).flatten(2)), weights


# --8<-- [end:fused]


# %% head_modules_with_bias
# A module for each head, each with three small linear maps and an attention of its own.


# --8<-- [start:head_modules_with_bias]
class Head(nn.Module):
    """One head: Attention(Q W_i^Q, K W_i^K, V W_i^V)."""

    def __init__(self, d_model: int, d_head: int) -> None:
        super().__init__()
        self.project_query = nn.Linear(d_model, d_head)
        self.project_key = nn.Linear(d_model, d_head)
        self.project_value = nn.Linear(d_model, d_head)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        q, k, v = self.project_query(query), self.project_key(key), self.project_value(value)  # (b, positions, d_head)
        return scaled_dot_product_attention(q[:, None], k[:, None], v[:, None], mask)  # as one head: (b, 1, …)


class MultiHeadedAttention(nn.Module):
    """A list of heads, and the map from their concatenation to the output."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model = {d_model} is not a multiple of n_heads = {n_heads}")
        self.heads = nn.ModuleList(Head(d_model, d_model // n_heads) for _ in range(n_heads))
        self.project_output = nn.Linear(d_model, d_model)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        masks = [mask] * len(self.heads)
        if mask is not None and mask.dim() > 2 and mask.size(-3) > 1:  # (b, h, q, k): a mask of its own for each head
            masks = list(mask.split(1, dim=-3))
        found = [head(query, key, value, own) for head, own in zip(self.heads, masks, strict=True)]
        contexts, weights = zip(*found, strict=True)  # of each head (b, 1, q, d_head) and (b, 1, q, k)
        return self.project_output(torch.cat(contexts, dim=-1).squeeze(1)), torch.cat(weights, dim=1)


# --8<-- [end:head_modules_with_bias]
