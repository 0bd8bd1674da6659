"""Attention and its heads, both in other words."""

import copy
import math
from typing import Optional

import torch
from torch import Tensor, einsum, nn

# %% checked
# Types, shapes and ranges are checked in every call; annotated with Optional; helper functions.


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor]) -> None:  # noqa: UP045
    for tensor in (query, key, value):
        assert isinstance(tensor, Tensor) and tensor.dim() == 4 and tensor.is_floating_point()
    assert query.size(-1) == key.size(-1) and key.size(-2) == value.size(-2)
    if mask is not None:
        assert mask.dtype == torch.bool, "mask must be boolean"
        assert mask.dim() in (2, 4)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Optional[Tensor] = None,  # noqa: UP045
):
    _check(query, key, value, mask)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = torch.masked_fill(scores, ~mask, -1e18)
    weights = torch.softmax(scores, dim=-1)
    assert weights.shape == (*query.shape[:3], key.size(2))
    if not torch.allclose(weights.sum(-1), torch.ones_like(weights[..., 0]), atol=1e-4):
        raise RuntimeError("weights do not sum to 1")
    return torch.matmul(weights, value), weights


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
        assert query.dim() == key.dim() == value.dim() == 3
        assert query.size(0) == key.size(0) == value.size(0)
        split = [w(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for w, x in zip(self.w, (query, key, value))]  # noqa: B905
        context, weights = scaled_dot_product_attention(*split, mask)
        assert torch.all(weights >= 0) and torch.all(weights <= 1 + 1e-6)
        assert torch.allclose(weights.sum(-1), torch.ones_like(weights[..., 0]), atol=1e-4)
        return self.w[3](context.transpose(1, 2).flatten(2)), weights


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


# %% folded_heads
# Heads are folded into the batch for torch.bmm; the class does not call the function.


def scaled_dot_product_attention(query, key, value, mask=None):
    b, h, q, d = query.shape
    k = key.size(2)
    scores = torch.bmm(query.reshape(b * h, q, d), key.reshape(b * h, k, d).transpose(1, 2)).view(b, h, q, k)
    scores = scores / d**0.5
    if mask is not None:
        scores.masked_fill_(~mask, -1e9)
    weights = nn.functional.softmax(scores, dim=-1)
    return torch.bmm(weights.view(b * h, q, k), value.reshape(b * h, k, -1)).view(b, h, q, -1), weights


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.h, self.dk = n_heads, d_model // n_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def fold(self, x):
        b, s, _ = x.shape
        return x.view(b, s, self.h, self.dk).permute(0, 2, 1, 3).reshape(b * self.h, s, self.dk)

    def forward(self, query, key, value, mask=None):
        b, t, d = query.shape
        s = key.size(1)
        q, k, v = self.fold(self.wq(query)), self.fold(self.wk(key)), self.fold(self.wv(value))
        scores = torch.bmm(q, k.transpose(1, 2)) / self.dk**0.5
        if mask is not None:
            mask = mask.expand(b, self.h, t, s).reshape(b * self.h, t, s)
            scores = scores.masked_fill(mask.logical_not(), -1e4)
        weights = scores.softmax(-1)
        x = torch.bmm(weights, v).view(b, self.h, t, self.dk)
        return self.wo(x.transpose(1, 2).reshape(b, t, d)), weights.view(b, self.h, t, s)


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


# %% loops
# Loops over sentences and heads, with slices of the projected features.


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


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads")
        self.h, self.d_k = n_heads, d_model // n_heads
        self.O = nn.Linear(d_model, d_model)
        self.V = nn.Linear(d_model, d_model)
        self.K = nn.Linear(d_model, d_model)
        self.Q = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        Q, K, V = self.Q(query), self.K(key), self.V(value)
        heads, weights = [], []
        for i in range(self.h):
            part = slice(i * self.d_k, (i + 1) * self.d_k)
            head_mask = mask
            if mask is not None and mask.dim() == 4 and mask.size(1) > 1:
                head_mask = mask[:, i : i + 1]
            c, w = scaled_dot_product_attention(
                Q[:, None, :, part], K[:, None, :, part], V[:, None, :, part], head_mask
            )
            heads.append(c[:, 0])
            weights.append(w[:, 0])
        return self.O(torch.cat(heads, dim=-1)), torch.stack(weights, dim=1)
