"""Whether a call has written into its arguments."""

from collections.abc import Iterable

import torch

Kept = list[tuple[torch.Tensor, int, torch.Tensor]]
"""Tensors with their versions and copies, as `has_changed` takes them."""


def keep(tensors: Iterable[torch.Tensor]) -> Kept:
    """What is known of some tensors before a call."""
    return [(tensor, tensor._version, tensor.detach().clone()) for tensor in tensors]


def has_changed(tensor: torch.Tensor, version: int, copy: torch.Tensor) -> bool:
    """Whether something was written into a tensor; what is written through `.data` leaves its version as it was."""
    if tensor._version != version or tensor.shape != copy.shape or tensor.dtype != copy.dtype:
        return True
    now = tensor.detach()
    return not (torch.equal(now, copy) or bool(((now == copy) | (now != now) & (copy != copy)).all()))  # NaN stays NaN
