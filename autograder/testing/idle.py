"""Components that compute nothing: what they return is an argument, or does not depend on what they learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .arguments import call_with_copies
from .case import Inputs
from .comparison import alike
from .fitting import CALL_FAILED, first_part

if TYPE_CHECKING:
    from .subject import Subject


def is_idle(subject: Subject, inputs: Inputs) -> bool:
    """Return True if the first of what it returns is an argument, or the same with other parameters."""
    with torch.no_grad():
        first = subject.first(inputs)
        kept = [(parameter, parameter.detach().clone()) for parameter, _ in subject.parameters]
        for parameter, values in kept:
            parameter.copy_(torch.linspace(-1, 2, values.numel()).view_as(values))
        again = subject.first(inputs) if kept else None
        for parameter, values in kept:
            parameter.copy_(values)
    return first is not None and any(alike(first, x) for x in (*inputs.values(), again) if x is not None)


def is_mostly_idle(subject: Subject, inputs: Inputs) -> bool:
    """Return True if it is idle, or needs most parts, and most parameters have no effect on the first result."""
    learned = [parameter for parameter, _ in subject.parameters if subject.needs_most_parts]
    try:
        if is_idle(subject, inputs):
            return True
        result = first_part(call_with_copies(subject.call, [*inputs.values()]), subject.parts)
        if not isinstance(result, Tensor):
            return False
        gradients = torch.autograd.grad(result.square().sum(), learned, allow_unused=True)
    except CALL_FAILED:
        return False
    idle = [gradient is None or not bool(gradient.any()) for gradient in gradients]
    return 2 * sum(idle) > len(idle)
