"""Who may attend to whom.

Masks are boolean, True = may attend, of shape (q, k) or broadcastable to (b, h, q, k).
Combine two of them with `&`: what either forbids is forbidden.
"""

import torch
from torch import Tensor


def padding_mask(tokens: Tensor, pad_id: int) -> Tensor:
    """Forbids attention to padding: tokens, int64, (b, s) -> bool (b, 1, 1, s)."""
    return (tokens != pad_id)[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """Forbids attention to later positions (Vaswani et al. 2017, section 3.2.3): bool (length, length)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def diagonal_mask(
    length: int, width: int = 1, random_prob: float = 0.0, generator: torch.Generator | None = None
) -> Tensor:
    """Lets each position attend to its neighbours, and to a few others drawn at random.

    The encoder's self-attention in this assignment may be restricted so; compare the window and random
    attention of Zaheer et al. 2020, "Big Bird", section 2. Cross-attention is not restricted.

    Args:
        length: number of positions.
        width: position i may attend to j where abs(i - j) < width; 1 is the diagonal alone, 0 no band at all.
        random_prob: every other cell is allowed with this probability, independently of all others.
        generator: the source of randomness; None = torch's global one.

    Returns:
        bool (length, length), on the CPU.
    """
    # TODO E.1: (extension) allow the band around the diagonal, and each other cell with
    # probability random_prob.
    raise NotImplementedError("TODO E.1")
