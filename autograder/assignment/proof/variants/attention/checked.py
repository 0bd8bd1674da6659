"""Types, shapes and ranges are checked in every call; annotated with Optional; helper functions."""

import math
from typing import Optional

import torch
from torch import Tensor, nn


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
