"""What is done with the arguments of a call besides sending them: a seed goes along, and what was changed is spoilt."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import torch
from torch import Tensor


def draw_seed() -> int:
    """A seed for one call, from torch's global generator, hashed so that it does not tell the generator's state."""
    drawn = int(torch.randint(2**62, ()))
    return int.from_bytes(hashlib.blake2b(drawn.to_bytes(8, "little"), digest_size=6).digest(), "little")


def can_be_changed(tensor: Tensor) -> bool:
    """Whether something can be written into a tensor: it has elements, and no two of them share memory."""
    return tensor.numel() > 0 and all(s > 0 or n == 1 for s, n in zip(tensor.stride(), tensor.shape, strict=True))


def spoil(tensors: Iterable[Tensor], place: str) -> None:
    """Makes a change that the submission has made to its arguments visible in the caller's tensors.

    Its own values are not written there: a test that computes what it expects from the same tensor after the call
    would then compute it from the submission's choice. Floats become NaN, other values random ones that differ
    somewhere and stay within the range that was there. They get an attribute `changed_at`, the line that made
    the change.
    """
    generator = torch.Generator().manual_seed(draw_seed())
    for tensor in tensors:
        with torch.no_grad():
            tensor.copy_(_other_values(tensor, generator))
        tensor.changed_at = place  # type: ignore[attr-defined]  # tensors take attributes


def _other_values(tensor: Tensor, generator: torch.Generator) -> Tensor:
    if tensor.is_floating_point():
        return torch.full_like(tensor, float("nan"))
    whole = tensor.to(torch.int64)
    low, high = (0, 1) if tensor.dtype == torch.bool else (int(whole.min()), int(whole.max()))
    other = torch.randint(low, high + 1, tensor.shape, generator=generator)
    if torch.equal(other, whole):
        other = low + high - whole
    if torch.equal(other, whole):
        other = torch.where(whole > 0, whole - 1, whole + 1)
    return other.to(tensor.dtype)
