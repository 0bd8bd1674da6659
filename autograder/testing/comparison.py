"""Assertions whose messages teach: the expected value, the submission's, and where to look.

Whatever a submission returns, these functions raise CheckFailed and nothing else.
"""

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from .results import NO_RETURN, CheckFailed

TOLERANCE = 1e-6
"""In float64, relative to 1 + the size of the expected value.

Correct code may compute a factor in float32 (an error of 3e-8); faults are larger by orders of magnitude.
"""

TOLERANCE_OF_FLOAT32 = 2e-4
"""Likewise in float32, where one rounding is 6e-8 and sums of some dozen terms of size 10 are usual."""

NEGLIGIBLE = 1e-9
"""A difference that no tolerance minds."""

CLOSE = 1e-5
"""Relative difference up to which a result is taken for that of another computation: as far as float32 agrees."""

DETACHED = (
    "is everything computed from parameters and inputs, without .detach(), .data, .item() or torch.no_grad(), and does "
    "every parameter require a gradient?"
)


def fail(
    name: str,
    expected: str,
    got: str,
    look_at: str = "",
    compared: tuple[Tensor, Tensor] | None = None,
    kind: type[CheckFailed] = CheckFailed,
) -> NoReturn:
    """Raises a CheckFailed of this kind, with the parts of the message, one per line, and any tensors that differ."""
    raise kind(f"{name}\n  expected: {expected}\n  got:      {got}", compared, look_at)


def expect(
    condition: bool, name: str, expected: str, got: str, look_at: str = "", kind: type[CheckFailed] = CheckFailed
) -> None:
    """Fails unless the condition holds."""
    if not condition:
        fail(name, expected, got, look_at, kind=kind)


def describe(value: object) -> str:
    """A short name for what a submission returned instead of a tensor."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{type(value).__name__}" if value is not None else f"None ({NO_RETURN})"


def expect_parts(actual: object, names: Sequence[str], name: str) -> list[Any]:
    """Fails unless `actual` is a tuple (or list) with one part for each name; returns the parts."""
    if not isinstance(actual, (tuple, list)) or len(actual) != len(names):
        fail(name, f"a tuple of {len(names)}: {', '.join(names)}", describe(actual))
    return list(actual)


def expect_shape(
    actual: object, shape: Sequence[int], name: str, look_at: str = "", dtype: torch.dtype | None = None
) -> Tensor:
    """Fails unless `actual` is a tensor of that shape (and dtype) and finite everywhere; returns it."""
    tensor = _expect_layout(actual, shape, name, look_at, dtype)
    _expect_finite(tensor, name, look_at)
    return tensor


def observe_shape(got: Sequence[int], wanted: Sequence[int]) -> str:
    """Describe what became of the axes, where the sizes show it."""
    if sorted(got) == sorted(wanted):
        return "the sizes are right, but the axes are in another order"
    if [size for size in got if size != 1] == [size for size in wanted if size != 1]:
        return f"an axis of size 1 is {'missing' if len(got) < len(wanted) else 'left over'}"
    return ""


def _expect_finite(tensor: Tensor, name: str, look_at: str, compared: tuple[Tensor, Tensor] | None = None) -> None:
    if n := int((~torch.isfinite(tensor)).sum()):
        fail(name, "finite numbers", f"{n} of {tensor.numel()} values are NaN or infinite", look_at, compared)


def _expect_layout(actual: object, shape: Sequence[int], name: str, look_at: str, dtype: torch.dtype | None) -> Tensor:
    if not isinstance(actual, Tensor):
        fail(name, f"a tensor of shape {tuple(shape)}", describe(actual), look_at)
    if tuple(actual.shape) != tuple(shape):
        observed = observe_shape(actual.shape, shape)
        fail(
            name,
            f"shape {tuple(shape)}",
            f"shape {tuple(actual.shape)}" + f"; {observed}" * bool(observed),
            "" if observed else look_at,
        )
    if dtype is not None and actual.dtype != dtype:
        wanted, got = (str(kind).removeprefix("torch.") for kind in (dtype, actual.dtype))
        fail(name, f"{wanted}, like the inputs", got, "does a step convert to another dtype?")
    return actual


def difference(actual: Tensor, expected: Tensor, scale: float = 1.0) -> float:
    """The largest difference, relative to `scale` + the size of the expected value; NaN counts as infinite.

    One that is negligible anyway is not made relative to what was expected, which would only make it smaller.
    """
    if expected.numel() == 0:
        return 0.0
    with torch.no_grad():
        expected = expected.double()
        differences = (actual.double() - expected).abs_()
        error = differences.max().item() / scale
        if not error < NEGLIGIBLE:
            error = (differences / expected.abs().add_(scale)).max().item()
    return math.inf if math.isnan(error) else error


def alike(first: Tensor, second: Tensor) -> bool:
    """True if two results are equal but for rounding; what is not finite is like 0."""
    first, second = (x.detach().double().nan_to_num(nan=0.0, posinf=0.0, neginf=0.0) for x in (first, second))
    scale = NEGLIGIBLE + second.abs().mean() + second.abs()
    return first.shape == second.shape and bool(((first - second).abs() <= CLOSE * scale).all())


def all_equal(first: Sequence[Tensor], second: Sequence[Tensor]) -> bool:
    """Return True if tensors are equal, where NaN equals NaN."""
    return len(first) == len(second) and all(
        left.shape == right.shape and bool(((left == right) | (left != left) & (right != right)).all())
        for left, right in zip(first, second, strict=True)
    )


def worst_place(result: Tensor, expected: Tensor) -> tuple[int, ...]:
    """Return the index at which two results differ most."""
    error = (result - expected).abs().nan_to_num(nan=math.inf)
    return tuple(int(index) for index in torch.unravel_index(error.argmax(), error.shape))


def expect_close(
    actual: object, expected: Tensor, name: str, look_at: str = "", tolerance: float = TOLERANCE, scale: float = 1.0
) -> None:
    """Fails where shape, dtype or values differ; the message shows the place where they differ most.

    Tolerance and scale are those of `difference`: a scale above 1 is for results of larger terms, which were rounded.
    """
    result = _expect_layout(actual, expected.shape, name, look_at, expected.dtype)
    relative = difference(result, expected, scale)
    if relative <= tolerance:
        return
    result, expected = result.detach(), expected.detach()
    _expect_finite(result, name, look_at, compared=(result, expected))
    error = (result - expected).abs()
    worst = worst_place(result, expected)
    wrong = int((error > tolerance * (scale + expected.abs())).sum())
    place = f" at {list(worst)}" if worst else ""
    shown = [[f"{float(tensor[worst]):.{digits}g}" for tensor in (expected, result)] for digits in (6, 9)]
    wanted, got = shown[0] if len({*shown[0]}) > 1 else shown[1]
    fail(
        name,
        f"{wanted}{place}",
        f"{got}; {wrong} of {error.numel()} values differ",
        look_at,
        compared=(result, expected),
    )


def run_backward(output: object, direction: Tensor, name: str) -> None:
    """Runs backward from the product of an output with a fixed direction; fails where nothing leads back."""
    tensor = expect_shape(output, direction.shape, name)
    expect(tensor.requires_grad, name, "one that leads back to parameters and inputs", "detached", DETACHED)
    (tensor * direction.to(tensor.dtype)).sum().backward()


def expect_gradients(parameters: Sequence[Tensor], name: str, look_at: str = "") -> None:
    """Fails where a parameter has no gradient, or one that is zero everywhere or not finite."""
    expect(bool(parameters), name, "learned parameters", "none; is each an nn.Parameter of the module?", look_at)
    for index, parameter in enumerate(parameters):
        label = f"parameter {index + 1} of {len(parameters)}, shape {tuple(parameter.shape)}"
        if parameter.grad is None:
            fail(name, "a gradient for every parameter", f"none for {label}", look_at)
        gradient = parameter.grad.to_dense()
        finite = bool(torch.isfinite(gradient).all())
        expect(finite, name, "finite gradients", f"NaN or infinite for {label}", look_at)
        some = gradient.numel() > 0 and bool(gradient.abs().max() > 0)
        expect(some, name, "a gradient for every parameter", f"zero for {label}", look_at)


def expect_same(actual: object, expected: Tensor, name: str, rule: str) -> None:
    """Fails where a mask (or ids) is not exactly as expected; `rule` has the right values in words."""
    shown = str(expected.dtype).removeprefix("torch.")
    if not isinstance(actual, Tensor) or actual.shape != expected.shape or actual.dtype != expected.dtype:
        got = f"{describe(actual)}{f', {actual.dtype}' if isinstance(actual, Tensor) else ''}"
        fail(name, f"a {shown} tensor of shape {tuple(expected.shape)}", got)
    if different := (actual != expected).nonzero().tolist():
        first = different[0]
        got = f"{actual[tuple(first)].item()} at {first}; {len(different)} of {expected.numel()} cells are different"
        fail(name, rule, got, compared=(actual.detach(), expected))
