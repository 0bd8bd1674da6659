"""Scaled dot-product attention in other words, and with its heads.

The ones from `any_finite_numbers` to `results_as_views`, and `refuses_the_rest`, use a freedom of its contract: a
student's own test that demands more rejects one of these.
"""

import copy
import math
from typing import NamedTuple, Optional

import torch
from torch import Tensor, einsum, nn

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


# %% inline
# The class writes attention out instead of calling the function; the softmax is written out too.


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[3])
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -1e20)
    exponentials = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return weights @ value, weights


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_heads = n_heads
        self.projections = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in ("v", "k", "q", "o")})

    def forward(self, query, key, value, mask=None):
        b, t, d = query.shape
        d_head = d // self.n_heads
        q = self.projections["q"](query).reshape(b, t, self.n_heads, d_head).transpose(1, 2)
        k = self.projections["k"](key).reshape(b, -1, self.n_heads, d_head).transpose(1, 2)
        v = self.projections["v"](value).reshape(b, -1, self.n_heads, d_head).transpose(1, 2)
        logits = (q @ k.transpose(2, 3)) * (1.0 / math.sqrt(d_head))
        if mask is not None:
            logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
        shifted = (logits - logits.amax(dim=-1, keepdim=True)).exp()
        weights = shifted / shifted.sum(-1, keepdim=True)
        return self.projections["o"]((weights @ v).transpose(1, 2).flatten(2)), weights


# %% refuses_the_rest
# Whatever the docstring does not name is refused, in every call; annotated with Optional; a helper function.


def check(query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor], dim: int) -> None:  # noqa: UP045
    b, *between, q, d = query.shape
    if query.dim() != dim or key.shape != (b, *between, key.size(-2), d) or value.shape != key.shape:
        raise ValueError("expected a query (…, q, d), and key and value (…, k, d)")
    if 0 in (*query.shape, *key.shape):
        raise ValueError("expected numbers")
    if not {query.dtype, key.dtype, value.dtype} <= {torch.float32, torch.float64}:
        raise TypeError("expected float32 or float64")
    if mask is not None and mask.dtype is not torch.bool:
        raise TypeError("expected a boolean mask")


def scaled_dot_product_attention(query, key, value, mask: Optional[Tensor] = None):  # noqa: UP045
    check(query, key, value, mask, dim=4)
    scores = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask.broadcast_to(scores.shape), torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        if not isinstance(d_model, int) or not isinstance(n_heads, int):
            raise TypeError("sizes are whole numbers")
        if d_model % n_heads != 0:
            raise ValueError("sizes do not fit")
        self.n_heads = n_heads
        self.w = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor] = None):  # noqa: UP045
        check(query, key, value, mask, dim=3)
        assert mask is None or mask.dim() in (2, 4)
        split = [w(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for w, x in zip(self.w, (query, key, value))]  # noqa: B905
        context, weights = scaled_dot_product_attention(*split, mask)
        assert torch.all(weights >= 0) and torch.all(weights <= 1 + 1e-6)
        assert torch.allclose(weights.sum(-1), torch.ones_like(weights[..., 0]), atol=1e-4)
        return self.w[3](context.transpose(1, 2).flatten(2)), weights
