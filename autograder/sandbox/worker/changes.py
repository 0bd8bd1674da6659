"""Whether a call has written into its arguments."""

import torch


def has_changed(tensor: torch.Tensor, version: int, copy: torch.Tensor) -> bool:
    """Whether something was written into a tensor; what is written through `.data` leaves its version as it was."""
    if tensor._version != version or tensor.shape != copy.shape or tensor.dtype != copy.dtype:
        return True
    now = tensor.detach()
    return not bool(((now == copy) | (now != now) & (copy != copy)).all())
