"""A law that holds for any parameters."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...testing.comparison import expect_close, expect_shape


def check_weights(weights: object, shape: Sequence[int], mask: Tensor | None, what: str) -> None:
    """Weights lie between 0 and 1, sum to 1 over the keys, and are 0 where the mask forbids."""
    found = expect_shape(weights, shape, what)
    total = found.sum(dim=-1)
    expect_close(total, torch.ones_like(total), f"{what}, summed over the keys", "the softmax runs over the keys")
    if mask is not None:
        forbidden = found.masked_fill(mask, 0.0)
        expect_close(forbidden, torch.zeros_like(found), f"{what} of forbidden keys", "the mask reaches the attention")
