"""What a component can still get right whose values are wrong: it is compared with itself.

Marks are given item by item. A wrong formula costs the item of the formula; whether gradients flow, or whether a call
leaves something behind, is another question, and is asked of what the component does compute.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .case import Case
from .comparison import all_equal, describe, expect, expect_shape

STEP = 1e-6  # of the differences, in float64
TOLERANCE = 1e-4  # relative to the larger of the two slopes
N_DIRECTIONS = 3  # one may be at right angles to what is missing
NOTHING = 1e-9  # a slope that is zero but for rounding

Compute = Callable[[Sequence[Tensor | None]], Any]
"""From arguments to the first part of what the component returns."""


def expect_own_gradients(
    compute: Compute,
    arguments: Sequence[Tensor | None],
    parameters: Sequence[Tensor],
    counted: Tensor | None,
    case: Case,
    look_at: str,
) -> None:
    """Fails unless the gradients are those of what the component computes, by central differences.

    All inputs are moved together, and then all parameters: a part that is detached anywhere shows in the slope. In
    float32, where differences are noise, gradients must be finite and not zero. Each input has to matter.

    Args:
        compute: what is differentiated.
        arguments: those that require a gradient are moved.
        parameters: of the component.
        counted: 1 where the result counts, None = everywhere.
        case: draws directions.
        look_at: a hint for whoever fails.
    """
    __tracebackhide__ = True
    inputs = [one for one in arguments if one is not None and one.requires_grad]
    learned = [one for one in parameters if one.requires_grad]
    for tensor in (*inputs, *learned):
        tensor.grad = None
    handed = [one.clone() if one is not None and one.requires_grad else one for one in arguments]
    result = compute(handed)
    expect(isinstance(result, Tensor), "the result", "a tensor", describe(result))
    expect(result.requires_grad, "the result", "one that leads back", "detached", look_at)
    direction = case.normal(*result.shape) * (1.0 if counted is None else counted)
    (result * direction.to(result.dtype)).sum().backward()
    for name, several in (("the inputs", inputs), ("the parameters", learned)):
        found = [one.grad.to_dense() for one in several if one.grad is not None]
        for gradient in found:
            expect_shape(gradient, gradient.shape, f"the gradients of {name}", look_at)
        some = [bool(gradient.abs().max() > NOTHING) for gradient in found if gradient.numel()]
        is_enough = any(some) if several is learned else len(some) == len(several) and all(some)
        expect(is_enough or not several, f"the gradients of {name}", "not zero", "none, or zeros", look_at)
        if several and all(one.dtype == torch.float64 for one in (*inputs, *learned)):

            def total() -> float:
                with torch.no_grad():
                    moved = compute([one.detach().clone() if one is not None else None for one in arguments])
                return float((expect_shape(moved, result.shape, "the result") * direction).sum())

            for _ in range(N_DIRECTIONS):
                ways = [case.normal(*one.shape) for one in several]
                _expect_slope(total, several, ways, name, look_at)


def _expect_slope(
    total: Callable[[], float], tensors: Sequence[Tensor], ways: Sequence[Tensor], name: str, look_at: str
) -> None:
    """Fails unless the slope of the total, as the tensors move their ways, is the one that their gradients say."""
    __tracebackhide__ = True
    pairs = [(one.grad, way) for one, way in zip(tensors, ways, strict=True) if one.grad is not None]
    said = sum(float((gradient * way).sum()) for gradient, way in pairs)
    _move(tensors, ways, STEP)
    ahead = total()
    _move(tensors, ways, -2 * STEP)
    behind = total()
    _move(tensors, ways, STEP)
    slope = (ahead - behind) / (2 * STEP)
    is_right = abs(slope - said) <= TOLERANCE * max(1.0, abs(slope), abs(said))
    expect(is_right, f"the slope along a random direction of {name}", f"{slope:.6g}", f"{said:.6g}", look_at)


def _move(tensors: Sequence[Tensor], ways: Sequence[Tensor], step: float) -> None:
    """Moves the tensors, each its own way."""
    with torch.no_grad():
        for one, way in zip(tensors, ways, strict=True):
            one.data.add_(way, alpha=step)


def expect_no_memory(results: Sequence[Sequence[Tensor]], look_at: str) -> None:
    """Fails unless equal calls gave equal results, and other calls other ones.

    Args:
        results: the tensors that came of a call, of the same again, of another one, and of that again.
        look_at: a hint for whoever fails.
    """
    __tracebackhide__ = True
    first, again, other, *others = results
    for one, same in ((first, again), *((other, same) for same in others)):
        expect(all_equal(one, same), "the same call, after others", "the same result", "another one", look_at)
    expect(not all_equal(first, other), "calls with other inputs", "other results", "the same result", look_at)
