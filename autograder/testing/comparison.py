"""Assertions whose messages teach: what was expected, what came, what to look at.

Whatever a submission returns, these functions raise CheckFailed and nothing else.
"""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from .errors import CheckFailed

TOLERANCE = 1e-6
"""In float64, relative to 1 + the size of the expected value.

Correct code may compute a factor in float32 (3e-8 off); faults are larger by orders of magnitude.
"""

observers: list[Callable[[str, float, float], None]] = []
"""Called with what was compared, the error and the tolerance; `prove` measures the tests through it."""


def fail(what: str, expected: str, came: str, look_at: str = "") -> None:
    """Raises CheckFailed with the three parts of the message, one a line."""
    __tracebackhide__ = True
    lines = [what, f"  expected: {expected}", f"  came:     {came}"]
    if look_at:
        lines.append(f"  look at:  {look_at}")
    raise CheckFailed("\n".join(lines))


def expect(condition: bool, what: str, expected: str, came: str, look_at: str = "") -> None:
    """Fails where the condition does not hold."""
    __tracebackhide__ = True
    if not condition:
        fail(what, expected, came, look_at)


def describe(value: object) -> str:
    """A short name for what came instead of a tensor."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{type(value).__name__}" if value is not None else "None (is a return missing?)"


def expect_parts(actual: object, names: Sequence[str], what: str) -> list:
    """Fails where `actual` is not a tuple (or list) with one part for each name; returns the parts."""
    __tracebackhide__ = True
    if not isinstance(actual, (tuple, list)) or len(actual) != len(names):
        fail(what, f"a tuple ({', '.join(names)})", describe(actual))
    return list(actual)


def expect_shape(
    actual: object, shape: Sequence[int], what: str, look_at: str = "", dtype: torch.dtype | None = None
) -> None:
    """Fails where `actual` is no tensor of that shape (and dtype), or not finite everywhere."""
    __tracebackhide__ = True
    if not isinstance(actual, Tensor):
        fail(what, f"a tensor of shape {tuple(shape)}", describe(actual), look_at)
    if tuple(actual.shape) != tuple(shape):
        fail(what, f"shape {tuple(shape)}", f"shape {tuple(actual.shape)}", look_at)
    if dtype is not None and actual.dtype != dtype:
        wanted, came = (str(kind).removeprefix("torch.") for kind in (dtype, actual.dtype))
        fail(what, f"{wanted}, as the inputs are", came, "does a step convert to another dtype?")
    if not torch.isfinite(actual).all():
        bad = int((~torch.isfinite(actual)).sum())
        fail(what, "finite numbers", f"{bad} of {actual.numel()} values are NaN or infinite", look_at)


def difference(actual: Tensor, expected: Tensor) -> float:
    """The largest difference, relative to 1 + the size of the expected value; NaN counts as infinite."""
    if expected.numel() == 0:
        return 0.0
    actual, expected = actual.detach().double(), expected.detach().double()
    error = (actual - expected).abs() / (1 + expected.abs())
    return error.nan_to_num(nan=torch.inf).max().item()


def expect_close(actual: object, expected: Tensor, what: str, look_at: str = "", tolerance: float = TOLERANCE) -> None:
    """Fails where shape, dtype or values differ; the message shows the place where they differ most."""
    __tracebackhide__ = True
    expect_shape(actual, expected.shape, what, look_at, expected.dtype)
    relative = difference(actual, expected)
    _observe(what, relative, tolerance)
    if relative <= tolerance:
        return
    actual, expected = actual.detach(), expected.detach()
    error = (actual - expected).abs()
    worst = tuple(int(index) for index in torch.unravel_index(error.argmax(), error.shape))
    wrong = int((error > tolerance * (1 + expected.abs())).sum())
    place = f" at {list(worst)}" if worst else ""
    fail(
        what,
        f"{float(expected[worst]):.6g}{place}",
        f"{float(actual[worst]):.6g}; {wrong} of {error.numel()} values differ",
        look_at,
    )


def expect_equal_to_one(
    actual: object, candidates: Iterable[Tensor], what: str, look_at: str = "", tolerance: float = TOLERANCE
) -> int:
    """Fails where no candidate fits; shows the difference from the nearest. Returns the index of the one that fits.

    Used where the same mathematics can be laid out in several ways, which weights of random values tell apart.
    """
    __tracebackhide__ = True
    nearest, smallest = None, torch.inf
    for index, candidate in enumerate(candidates):
        error = torch.inf
        if isinstance(actual, Tensor) and actual.shape == candidate.shape and actual.dtype == candidate.dtype:
            error = difference(actual, candidate)
            if error <= tolerance:
                _observe(what, error, tolerance)
                return index
        if nearest is None or error < smallest:
            nearest, smallest = candidate, error
    if nearest is None:
        fail(what, "parameters in which the parts can be recognised", "none that fit", look_at)
    expect_close(actual, nearest, what, look_at, tolerance)
    raise CheckFailed(what)  # two comparisons that cannot disagree did


def _observe(what: str, error: float, tolerance: float) -> None:
    for observer in observers:
        observer(what, error, tolerance)


def run_backward(output: object, direction: Tensor, what: str) -> None:
    """Backward from the product of an output with a fixed direction; fails where there is nothing to go back to."""
    __tracebackhide__ = True
    expect_shape(output, direction.shape, what)
    look_at = "is everything computed from the parameters and inputs, without .detach(), .data or torch.no_grad()?"
    expect(output.requires_grad, f"{what}: backward", "an output that depends on them", "one that does not", look_at)
    (output * direction.to(output.dtype)).sum().backward()


def expect_gradients(parameters: Sequence[Tensor], what: str, look_at: str = "") -> None:
    """Fails where a parameter got no gradient, or one that is zero or not finite everywhere."""
    __tracebackhide__ = True
    expect(bool(parameters), what, "learned parameters", "none; is each an nn.Parameter of the module?", look_at)
    for index, parameter in enumerate(parameters):
        label = f"parameter {index + 1} of {len(parameters)}, shape {tuple(parameter.shape)}"
        gradient = parameter.grad
        expect(gradient is not None, what, "a gradient for every parameter", f"none for {label}", look_at)
        finite = bool(torch.isfinite(gradient).all())
        expect(finite, what, "finite gradients", f"NaN or infinite for {label}", look_at)
        some = gradient.numel() > 0 and bool(gradient.abs().max() > 0)
        expect(some, what, "a gradient for every parameter", f"zero for {label}", look_at)


def expect_same(actual: object, expected: Tensor, what: str, rule: str, look_at: str = "") -> None:
    """Fails where a mask (or ids) is not exactly as expected; `rule` says in words what is."""
    __tracebackhide__ = True
    shown = str(expected.dtype).removeprefix("torch.")
    fits = isinstance(actual, Tensor) and actual.shape == expected.shape and actual.dtype == expected.dtype
    came = f"{describe(actual)}{f', {actual.dtype}' if isinstance(actual, Tensor) else ''}"
    expect(fits, what, f"a {shown} tensor of shape {tuple(expected.shape)}", came, look_at)
    wrong = int((actual != expected).sum())
    expect(wrong == 0, what, rule, f"{wrong} of {expected.numel()} cells are different", look_at)


def expect_unchanged(tensors: Sequence[Tensor | None], before: Sequence[Tensor | None], names: Sequence[str]) -> None:
    """Fails where an argument is not what it was before the call."""
    __tracebackhide__ = True
    for tensor, old, name in zip(tensors, before, names, strict=True):
        same = tensor is None or torch.equal(tensor, old)
        look_at = "operations that end in an underscore, += and assignments to a part write into the argument"
        expect(same, f"{name} after the call", "unchanged values", "changed in place", look_at)


def copies(tensors: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Copies to compare with later."""
    return [None if tensor is None else tensor.detach().clone() for tensor in tensors]
