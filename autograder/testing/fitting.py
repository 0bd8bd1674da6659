"""Compares the results of a component with those of independent computations, and their gradients.

Where there are several candidates for the right computation, the one that fits best is compared with. Where none does,
gradients can still be those of what the component does compute.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .case import Case
from .comparison import (
    DETACHED,
    NEGLIGIBLE,
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    alike,
    describe,
    difference,
    expect,
    expect_close,
    expect_parts,
    expect_shape,
    fail,
    run_backward,
)
from .results import CheckFailed, UnreadableError

Computation = Callable[..., Any]
"""Takes the inputs in float64, returns one tensor or several parts."""

Candidates = Sequence[Computation] | CheckFailed | UnreadableError
"""Independent computations, of which one must fit; or why none can be found."""
CALL_FAILED = RuntimeError, ValueError, TypeError, IndexError
"""Exceptions of a call whose arguments the component cannot take."""

Pair = tuple[str, Tensor | None, Tensor | None]
"""A gradient in words, for messages; a tensor that has it; and the leaf whose gradient it should equal."""

STEP = 1e-6  # of central differences, in float64
TOLERANCE_OF_SLOPES = 1e-4  # relative to the larger of the two
N_DIRECTIONS = 3  # one may be at right angles to what is missing
MUCH_NEARER = 0.9


def attempt(find: Callable[[], Sequence[Computation]]) -> Candidates:
    """Return the computations that a component may do, or why none is found: that costs the tests of values alone."""
    try:
        return find()
    except (CheckFailed, UnreadableError) as error:
        return error


def first_part(result: Any, parts: Sequence[str]) -> Any:
    """The first part of a result whose other parts may be missing."""
    if len(parts) == 1 or isinstance(result, Tensor):
        return result
    return (
        result[0] if isinstance(result, (tuple, list)) and result else expect_parts(result, parts, "what is returned")
    )


def tensors_in(value: Any) -> list[Tensor]:
    """The tensors in a result, however it is nested."""
    if isinstance(value, Tensor):
        return [value]
    return [tensor for item in value for tensor in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def are_alike(result: object, other: object) -> bool:
    """True if two results, nested alike, hold the same numbers but for rounding."""
    got, due = tensors_in(result), tensors_in(other)
    return bool(due) and len(got) == len(due) and all(map(alike, got, due))


def leaves_of(parameters: Sequence[Tensor]) -> list[Tensor]:
    """Copies of parameters in float64, to compute with and to differentiate."""
    return [parameter.detach().to(torch.float64, copy=True).requires_grad_() for parameter in parameters]


def leaf_for(value: Tensor | None, with_gradients: bool = False) -> Tensor | None:
    """Copy an argument for the candidates."""
    if value is None or not value.is_floating_point():
        return value
    return value.detach().double().requires_grad_(with_gradients)


def nearest(
    parts: Sequence[str],
    returned: Mapping[str, object],
    candidates: Sequence[Computation],
    leaves: Sequence[Tensor | None],
    judged: Sequence[str],
    judged_where: Tensor | None,
) -> dict[str, Any]:
    """The parts that the first candidate computes which fits what was returned; else those of the nearest one.

    That is the one from which the fewest values differ: a mistake may leave many as they are. Where all differ, a later
    one must be nearer by more than accident. `parts` are the names of all of them, in order, of which some may not have
    been found.
    """
    chosen: dict[str, Any] = {}
    smallest = 2.0, math.inf
    is_double = all(tensor.dtype == torch.float64 for name in judged for tensor in tensors_in(returned[name]))
    tolerance = TOLERANCE if is_double else TOLERANCE_OF_FLOAT32
    for candidate in candidates:
        result = candidate(*leaves)
        is_one = len(parts) == 1 and not isinstance(result, (list, tuple))
        wanted = dict(zip(parts, [result] if is_one else result, strict=True))
        several = [_distance(returned[name], wanted[name], judged_where) for name in judged]
        error = max((share for share, _ in several), default=0.0), max((largest for _, largest in several), default=0.0)
        if not chosen or error < (smallest[0], MUCH_NEARER * smallest[1]):
            chosen, smallest = wanted, error
        if smallest[1] < tolerance:
            break
    if not chosen:
        fail("the parameters", "some in which the parts can be recognised", "none that fit")
    return chosen


def _distance(returned: object, wanted: Any, factor: Tensor | None) -> tuple[float, float]:
    """The share of values that differ between two results, and the largest difference; infinite between shapes."""
    got, expected = tensors_in(returned), tensors_in(wanted)
    if [tensor.shape for tensor in got] != [tensor.shape for tensor in expected]:
        return 1.0, math.inf
    times = 1 if factor is None else factor
    pairs = [(a.detach() * times, b.detach() * times) for a, b in zip(got, expected, strict=True)]
    largest = max((difference(a, b) for a, b in pairs), default=0.0)
    if largest < TOLERANCE_OF_FLOAT32:
        return 0.0, largest
    wrong = sum(int(((a - b).abs() > TOLERANCE_OF_FLOAT32 * (1 + b.abs())).sum()) for a, b in pairs)
    return wrong / sum(a.numel() for a, _ in pairs), largest


def compare_part(
    returned: object,
    wanted: Any,
    name: str,
    look_at: str,
    dtype: torch.dtype | None,
    factor: Tensor | None,
    any_dtype: bool = False,
) -> None:
    """Fails unless a part, a tensor or a list of them, is as it was computed, in this dtype if one is given.

    It counts where the factor is 1, and need only be finite where it is 0. With `any_dtype`, others are converted.
    """
    pairs = [(returned, wanted, name)]
    if isinstance(wanted, (list, tuple)):
        names = [f"{name} of layer {number + 1}" for number in range(len(wanted))]
        pairs = list(zip(expect_parts(returned, names, name), wanted, names, strict=True))
    for actual, right, label in pairs:
        expected = right.detach().to(dtype or right.dtype)
        is_single = expected.dtype == torch.float32
        if any_dtype and isinstance(actual, Tensor) and actual.dtype != expected.dtype:
            is_single, actual = True, actual.to(expected.dtype)
        if factor is not None and isinstance(actual, Tensor) and actual.shape == expected.shape:
            expect(bool(torch.isfinite(actual).all()), label, "finite numbers", "NaN or infinite values", look_at)
            actual, expected = actual * factor.to(actual.dtype), expected * factor.to(expected.dtype)
        scale = max(1.0, float(expected.abs().max()) / 100) if is_single and expected.numel() else 1.0
        expect_close(actual, expected, label, look_at, TOLERANCE_OF_FLOAT32 if is_single else TOLERANCE, scale)


def compare_gradients(
    result: Tensor, wanted: Tensor, factor: Tensor | None, pairs: Sequence[Pair], case: Case, look_at: str
) -> None:
    """Compares gradients of a random sum over the first part, where the factor is 1; None = everywhere.

    Where large terms cancel, rounding shows: differences count in relation to the largest gradient of all.
    """
    direction = case.normal(*wanted.shape) * (1 if factor is None else factor)
    learned = [(name, got, leaf) for name, got, leaf in pairs if got is not None and leaf is not None]
    learned = [(name, got, leaf) for name, got, leaf in learned if got.requires_grad and leaf.requires_grad]
    for _, got, leaf in learned:
        got.grad = leaf.grad = None
    run_backward(result, direction, "the result")
    (wanted * direction).sum().backward()
    largest = max((float(leaf.grad.abs().max()) for *_, leaf in learned if leaf.grad is not None), default=0.0)
    for name, got, leaf in learned:
        if leaf.grad is None:
            continue
        actual = torch.zeros_like(got) if got.grad is None else got.grad.to_dense()
        if difference(actual, leaf.grad) < NEGLIGIBLE:
            continue
        is_lost = float(leaf.grad.abs().max()) > 1e-3 and not actual.any()
        expect(not is_lost, name, "a gradient", "none, or zeros", DETACHED)
        is_double = got.dtype == result.dtype == torch.float64
        tolerance = TOLERANCE if is_double else 200 * TOLERANCE_OF_FLOAT32
        scale = max(1.0, largest / 100) if is_double else max(0.1, largest)
        hint = DETACHED if bool(torch.isfinite(actual).all()) else look_at
        expect_close(actual, leaf.grad.to(actual.dtype), name, hint, tolerance, scale)


def expect_own_gradients(
    compute: Callable[[Sequence[Tensor | None]], Any],
    arguments: Sequence[Tensor | None],
    parameters: Sequence[Tensor],
    case: Case,
) -> None:
    """Fails unless the gradients are those of what the component computes, by central differences.

    All inputs are moved together, and then all parameters: a part that is detached anywhere shows in the slope. In
    float32, where differences are noise, gradients must be finite and not zero. Each input has to matter. `compute`
    goes from arguments to the first part of what the component returns.
    """
    inputs = [tensor for tensor in arguments if tensor is not None and tensor.requires_grad]
    learned = [tensor for tensor in parameters if tensor.requires_grad]
    for tensor in (*inputs, *learned):
        tensor.grad = None
    result = compute(
        [tensor.clone() if tensor is not None and tensor.requires_grad else tensor for tensor in arguments]
    )
    expect(isinstance(result, Tensor), "the result", "a tensor", describe(result))
    direction = case.normal(*result.shape)
    run_backward(result, direction, "the result")

    def slope_along(tensors: Sequence[Tensor], ways: Sequence[Tensor]) -> float:
        """How the total changes as the tensors move their ways, which they go back in the end."""
        totals = []
        for step in (STEP, -2 * STEP, STEP):
            for tensor, way in zip(tensors, ways, strict=True):
                tensor.data.add_(way, alpha=step)
            with torch.no_grad():
                moved = compute([tensor.detach().clone() if tensor is not None else None for tensor in arguments])
            totals.append(float((expect_shape(moved, result.shape, "the result") * direction).sum()))
        return (totals[0] - totals[1]) / (2 * STEP)

    for name, several in (("the inputs", inputs), ("the parameters", learned)):
        gradients = [torch.zeros_like(tensor) if tensor.grad is None else tensor.grad.to_dense() for tensor in several]
        for gradient in gradients:
            expect_shape(gradient, gradient.shape, f"the gradients of {name}", DETACHED)
        some = [bool((gradient.abs() > NEGLIGIBLE).any()) for gradient in gradients]
        is_enough = any(some) if several is learned else all(some)
        expect(is_enough or not several, f"the gradients of {name}", "not zero", "none, or zeros", DETACHED)
        is_precise = bool(several) and all(tensor.dtype == torch.float64 for tensor in (*inputs, *learned))
        for _ in range(N_DIRECTIONS * is_precise):
            ways = [case.normal(*tensor.shape) for tensor in several]
            claimed = sum(float((gradient * way).sum()) for gradient, way in zip(gradients, ways, strict=True))
            slope = slope_along(several, ways)
            is_right = abs(slope - claimed) <= TOLERANCE_OF_SLOPES * max(1.0, abs(slope), abs(claimed))
            expect(
                is_right, f"the slope along a random direction of {name}", f"{slope:.6g}", f"{claimed:.6g}", DETACHED
            )
