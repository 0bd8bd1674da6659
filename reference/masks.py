"""Masks: which positions may attend to which.

Masks are boolean, True = may attend: (q, k), or four axes broadcastable to (b, h, q, k).
Combine two masks with `&`: the result forbids whatever either of them forbids.
A function keeps nothing from one call to the next: each call makes a mask that its caller may write into.
"""

import torch
from torch import Tensor


def padding_mask(tokens: Tensor, pad_id: int) -> Tensor:
    """Forbids attention to padding, for all queries and in all heads.

    Args:
        tokens: ids, int64, (b, s); a batch is filled up with pad_id, so that its sentences have one length.
        pad_id: the id of padding, wherever it stands.

    Returns:
        bool (b, 1, 1, s), one row per sentence; the axes for heads and queries have size 1.
    """
    # TODO 1.6: which keys are words? Give the answer an axis for the heads and one for the queries.
    ### BEGIN SOLUTION
    return (tokens != pad_id)[:, None, None, :]
    ### END SOLUTION


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """Forbids attention to later positions (Vaswani et al. 2017, section 3.2.3).

    Args:
        length: number of positions.
        device: of the mask; None = torch's default.

    Returns:
        bool (length, length): a row for each query, which may see itself and earlier positions; a column for each key.
    """
    # TODO 1.6: which keys may a query see, if the target is written one token after the other?
    ### BEGIN SOLUTION
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
    ### END SOLUTION


def diagonal_mask(
    length: int, width: int = 1, random_prob: float = 0.0, generator: torch.Generator | None = None
) -> Tensor:
    """Lets each position attend to its neighbours, and to a few others drawn at random.

    It can restrict the encoder's self-attention, but not cross-attention. Compare the window and random
    attention of Zaheer et al. 2020, "Big Bird", section 2.

    Args:
        length: number of positions.
        width: position i may attend to j if abs(i - j) < width; 1 = the diagonal only, 0 = no band at all.
        random_prob: each other cell is allowed with this probability, independently of the rest.
        generator: the source of randomness; None = torch's global one.

    Returns:
        bool (length, length), on the CPU.
    """
    # TODO E.1: (extension) allow the band around the diagonal, and each other cell with
    # probability random_prob.
    ### BEGIN SOLUTION
    positions = torch.arange(length)
    band = (positions[:, None] - positions[None, :]).abs() < width
    return band | (torch.rand(length, length, generator=generator) < random_prob)
    ### END SOLUTION
