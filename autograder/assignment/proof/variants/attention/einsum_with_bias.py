"""Everything is an einsum with its axes in the formula; the heads are an axis of every parameter."""

import math

import torch
from torch import Tensor, einsum, nn


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
