"""Compares what a component returned with what independent computations give, and with their gradients.

Where there are several candidates for the right computation, the one that fits best is compared with.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from .arguments import Inputs
from .case import Case
from .comparison import (
    NEGLIGIBLE,
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    difference,
    expect,
    expect_close,
    expect_parts,
    fail,
)
from .observation import observe
from .results import LOOK_AT, OBSERVED, CheckFailed

Computation = Callable[..., Any]
"""Takes the inputs in float64, returns one tensor or several parts."""

Candidates = Sequence[Computation] | CheckFailed
"""Independent computations, of which one must fit; or why none can be found."""

STATE = "a call must not depend on earlier ones: keep nothing on self, in globals or in default arguments"
DETACHED = "is everything computed from parameters and inputs, without .detach(), .data, .item() or torch.no_grad()?"


def tensors_in(value: Any, copied: bool = False) -> list[Tensor]:
    """The tensors in a result, however it is nested."""
    if isinstance(value, Tensor):
        return [value.detach().clone() if copied else value.detach()]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item, copied)]
    return []


def leaves_of(parameters: Sequence[Tensor]) -> list[Tensor]:
    """Copies of parameters in float64, to compute with and to differentiate."""
    return [parameter.detach().to(torch.float64, copy=True).requires_grad_() for parameter in parameters]


def leaf_for(value: Tensor | None, with_gradients: bool) -> Tensor | None:
    """What the candidates are handed. A query that may attend to nothing is expected to attend to everything."""
    if value is None or not value.is_floating_point():
        is_mask = value is not None and value.dtype == torch.bool
        return value | ~value.any(dim=-1, keepdim=True) if is_mask and value is not None else value
    return value.detach().double().requires_grad_(with_gradients)


def judge(
    found: Sequence[Any],
    candidates: Candidates,
    leaves: Sequence[Tensor | None],
    inputs: Inputs,
    parts: Sequence[str],
    look_at: str,
    factors: Sequence[Tensor | None],
    dtype: torch.dtype | None,
    of: Sequence[str],
) -> list[Any]:
    """Fails unless what was returned fits a candidate; returns that candidate's results."""
    __tracebackhide__ = True
    if isinstance(candidates, CheckFailed):
        raise candidates
    judged = [number for number, name in enumerate(parts) if not of or name in of]
    made = [partial(_computed, candidate, leaves, parts) for candidate in candidates]
    chosen = _fitting(found, made, factors, judged)
    numbers = range(len(parts))

    def failures(of_judged: bool) -> Iterator[CheckFailed]:
        for number in numbers:
            if (number in judged) == of_judged:
                factor = factors[number]
                try:
                    _compare(found[number], chosen[number], parts[number], look_at, dtype, factor)
                except CheckFailed as error:
                    yield _with_observation(error, inputs, "" if of_judged else f"in {parts[number]}: ")

    missed = list(failures(of_judged=True))
    if missed:  # the clearest one speaks; of the context, its weights may tell more
        clearest = max(missed, key=seen_in)
        raise clearest if seen_in(clearest) else _observed(clearest, max(map(seen_in, failures(False)), default=""))
    return chosen


def compare_gradients(
    found: Tensor,
    wanted: Tensor,
    factor: Tensor | None,
    pairs: Sequence[tuple[str, Tensor | None, Tensor | None]],
    case: Case,
) -> None:
    """Compares gradients of a random sum over the first part; each pair is a tensor and the leaf that it should equal.

    Where large terms cancel, rounding shows: differences count in relation to the largest gradient of all.
    """
    __tracebackhide__ = True
    direction = case.normal(*wanted.shape)
    if factor is not None:
        direction = direction * factor
    learned = [(name, got, leaf) for name, got, leaf in pairs if got is not None and leaf is not None]
    learned = [(name, got, leaf) for name, got, leaf in learned if got.requires_grad and leaf.requires_grad]
    expect(found.requires_grad, "the result", "one that leads back to parameters and inputs", "detached", DETACHED)
    for _, got, leaf in learned:
        got.grad = leaf.grad = None
    (found * direction.to(found.dtype)).sum().backward()
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
        tolerance = TOLERANCE if got.dtype == torch.float64 else 200 * TOLERANCE_OF_FLOAT32
        scale = max(1.0, largest / 100) if got.dtype == torch.float64 else max(0.1, largest)
        expect_close(actual, leaf.grad.to(actual.dtype), name, DETACHED, tolerance, scale)


def _computed(candidate: Computation, leaves: Sequence[Tensor | None], parts: Sequence[str]) -> list[Any]:
    result = candidate(*leaves)
    return [result] if len(parts) == 1 and not isinstance(result, (list, tuple)) else list(result)


def _fitting(
    found: Sequence[object],
    candidates: Sequence[Callable[[], list[Any]]],
    factors: Sequence[Tensor | None],
    judged: Sequence[int],
) -> list[Any]:
    """The results of the first candidate that fits what was returned; else of the nearest one."""
    __tracebackhide__ = True
    if not candidates:
        fail("the parameters", "some in which the parts can be recognised", "none that fit")
    nearest, smallest = candidates[0](), math.inf
    for number, candidate in enumerate(candidates if len(candidates) > 1 else ()):
        wanted = candidate() if number else nearest
        error = _distance(found, wanted, factors, judged)
        if error < smallest:
            nearest, smallest = wanted, error
        if error < TOLERANCE_OF_FLOAT32:
            break
    return nearest


def _distance(
    found: Sequence[object], wanted: Sequence[Any], factors: Sequence[Tensor | None], judged: Sequence[int]
) -> float:
    """The largest difference between results of these parts; infinite where they are not of the same shapes."""
    largest = 0.0
    for number in judged:
        one, other = found[number], wanted[number]
        factor = factors[number]
        got, expected = tensors_in(one), tensors_in(other)
        if [tensor.shape for tensor in got] != [tensor.shape for tensor in expected]:
            return math.inf
        for actual, right in zip(got, expected, strict=True):
            pair = (actual, right) if factor is None else (actual * factor, right * factor)
            largest = max(largest, difference(*pair))
    return largest


def _compare(
    found: object, wanted: Any, name: str, look_at: str, dtype: torch.dtype | None, factor: Tensor | None
) -> None:
    __tracebackhide__ = True
    pairs = [(found, wanted, name)]
    if isinstance(wanted, (list, tuple)):
        names = [f"{name} of layer {number + 1}" for number in range(len(wanted))]
        pairs = list(zip(expect_parts(found, names, name), wanted, names, strict=True))
    for one, other, what in pairs:
        expected = other.detach().to(dtype or other.dtype)
        if factor is not None and isinstance(one, Tensor) and one.shape == expected.shape:
            expect(bool(torch.isfinite(one).all()), what, "finite numbers", "NaN or infinite values", look_at)
            one, expected = one * factor.to(one.dtype), expected * factor.to(expected.dtype)
        is_single = expected.dtype == torch.float32
        scale = max(1.0, float(expected.abs().max()) / 100) if is_single and expected.numel() else 1.0
        expect_close(one, expected, what, look_at, TOLERANCE_OF_FLOAT32 if is_single else TOLERANCE, scale)


def seen_in(error: CheckFailed) -> str:
    """What was observed, of a failure's message; "" where nothing was."""
    return str(error).partition(OBSERVED)[2]


def _with_observation(error: CheckFailed, inputs: Inputs, where: str) -> CheckFailed:
    """The same failure, with what was observed."""
    if not error.compared or STATE in str(error):
        return error
    text = observe(*error.compared, inputs)
    return _observed(error, text and where + text)


def _observed(error: CheckFailed, text: str) -> CheckFailed:
    """The same failure; what was observed, if anything, takes the place of the question where to look."""
    if not text:
        return error
    lines = [line for line in str(error).split("\n") if not line.startswith(LOOK_AT)]
    return CheckFailed("\n".join([*lines, f"{OBSERVED}{text}"]), error.compared)
