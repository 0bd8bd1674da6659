"""Answers to a recorded request, the submission's and ours, in a form in which they can be compared."""

from dataclasses import dataclass

import torch
from torch import Tensor

TOLERANCES = {torch.float64: 1e-6, torch.float32: 1e-4}
"""Relative to 1 + the size of the value; correct code may compute a factor in float32."""
COARSE = 1e-2
"""The tolerance in any other dtype."""


@dataclass(frozen=True)
class Answer:
    """An answer without whatever depends on the layout of parameters.

    Attributes:
        error: the kind of the exception, or "".
        value: a tree of numbers and tensors.
        numbers: how many numbers the object learns.
        gradient_size: the sum of squares of the gradients of all parameters.
        first_size: the root mean square of the first values of a new object's matrices; 0 = it has none.
    """

    error: str = ""
    value: object = None
    numbers: int = 0
    gradient_size: float = 0.0
    first_size: float = 0.0


def agree(mine: Answer, theirs: Answer) -> bool:
    """Whether two answers are the same up to layout and rounding."""
    if mine.error or theirs.error:
        return mine.error == theirs.error
    return is_same(mine.value, theirs.value) and is_same(mine.gradient_size, theirs.gradient_size)


def is_same(mine: object, theirs: object) -> bool:
    """Whether two values agree up to rounding. Theirs may be anything that can be sent."""
    if isinstance(mine, Tensor) and isinstance(theirs, Tensor):
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            return False
        if not mine.is_floating_point():
            return torch.equal(mine, theirs)
        tolerance = TOLERANCES.get(mine.dtype, COARSE)
        return torch.allclose(theirs, mine, rtol=tolerance, atol=tolerance, equal_nan=True)
    if isinstance(mine, float) and isinstance(theirs, float):
        return abs(mine - theirs) <= 1e-5 * (1 + abs(mine)) or mine == theirs or (mine != mine and theirs != theirs)
    if isinstance(mine, (list, tuple)) and isinstance(theirs, (list, tuple)) and type(mine) is type(theirs):
        return len(mine) == len(theirs) and all(map(is_same, mine, theirs))
    return type(mine) is type(theirs) and mine == theirs
