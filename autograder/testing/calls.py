"""The checks that every component gets: the same call, made by the submission and by an independent computation.

A test says what is called with what, and which computation gives the right result:

    expect_computes(module, [layer_norm], {"x": x}, ["the norm"], "mean and variance over the last axis")

`expect_computes` compares values in the dtype of the inputs, and gradients if asked. float64 inputs are handed over
plainly; float32 inputs as a model may do while it translates: without gradients, by name but for the first, and laid
out in memory as after a transpose. Where gradients are compared, the first float32 input needs none, as the vectors of
a frozen embedding. `expect_no_state` checks that calls leave their arguments, and each other, alone.

Parameters are random, and a submission may lay them out as it likes. So there may be several candidates for the right
computation, one for each reading of the parameters, and one of them has to fit.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from .arguments import Inputs, call_with_copies, copies_of, copy_of, expect_unchanged, with_inputs
from .case import Case
from .comparison import (
    NEGLIGIBLE,
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    all_equal,
    difference,
    expect,
    expect_close,
    expect_parts,
    fail,
)
from .observation import observe
from .own_values import expect_no_memory, expect_own_gradients
from .results import LOOK_AT, OBSERVED, CheckFailed, OtherPartsError, UnreadableError

Computation = Callable[..., Any]
"""Takes the inputs in float64, returns one tensor or several parts."""

Candidates = Sequence[Computation] | CheckFailed
"""Independent computations, of which one must fit; or why none can be found."""

DTYPES = torch.float64, torch.float32
each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
"""A test runs in both; float32 is what models are trained in."""


def each_row(names: Iterable[str], *in_float32: str) -> pytest.MarkDecorator:
    """A test runs with each named row of a table in float64, and with those that are named again in float32 too."""
    rows = in_dtypes(names, in_float32)
    return pytest.mark.parametrize("name, dtype", rows, ids=map(label_of, rows))


def in_dtypes(names: Iterable[str], in_float32: Sequence[str]) -> list[tuple[str, torch.dtype]]:
    """Each row of a table in float64, some in float32 too."""
    return [(name, dtype) for name in names for dtype in DTYPES if dtype == torch.float64 or name in in_float32]


def rows_of(kinds: Sequence[Any], rows: Sequence[Any], of_extensions: Sequence[Any]) -> list[Any]:
    """Parameters of a test that runs with each kind in several ways; with kinds of extensions in few.

    Args:
        kinds: parameters with a task's mark, and with whether they are of an extension as their last value.
        rows: further parameters for each kind.
        of_extensions: those for extensions.
    """
    return [
        pytest.param(*kind.values, *row, marks=kind.marks, id=f"{kind.id}-{label_of(row)}")
        for kind in kinds
        for row in (of_extensions if kind.values[-1] else rows)
    ]


def label_of(row: Sequence[object]) -> str:
    """A row's part of a test's id."""
    return "-".join(str(value).removeprefix("torch.") for value in row)


MIXED = "The test makes all parameters float64. One stayed float32: is it registered as a part of the module?"
STATE = "a call must not depend on earlier ones: keep nothing on self, in globals or in default arguments"
DETACHED = "is everything computed from parameters and inputs, without .detach(), .data, .item() or torch.no_grad()?"


def expect_computes(
    function: Callable[..., Any],
    candidates: Candidates,
    inputs: Inputs,
    parts: Sequence[str],
    look_at: str = "",
    *,
    counted: Sequence[Tensor | None] = (),
    parameters: Sequence[tuple[Tensor, Tensor]] | None = None,
    case: Case | None = None,
    dtype: torch.dtype | None = None,
    about: Sequence[str] = (),
    apart: bool = False,
    contiguous: bool = False,
) -> bool:
    """Fails unless `function` returns for these inputs what one of the candidates returns.

    Args:
        function: of the submission: a function, or a module.
        candidates: independent computations, of which one must fit; most often there is just one.
        inputs: the arguments by name; float64 or float32, and the results must have the same dtype.
        parts: names of what is returned; a list of tensors counts as one part.
        look_at: a hint for whoever fails.
        counted: for each part 1 where it counts and 0 where it may be anything, None = all of it counts.
        parameters: of the submission, each with the float64 leaf that the candidates compute with. If given, the
            gradients of these and of all inputs are compared, too.
        case: draws the direction of the backward pass, where `parameters` is given.
        dtype: of the results, where no input tells: None = that of the first input of floats.
        about: the parts that the test is about, where another test is about the others; () = all.
        apart: whether the test is about gradients alone: where the values are wrong even without them, the gradients
            need only be those of what `function` computes, if it has most of the parts that it should have.
        contiguous: whether float32 inputs are laid out as they come: other layouts are for the test of another item.

    Returns:
        Whether the values are right; False only with `apart`.
    """
    __tracebackhide__ = True
    if not set(about) <= set(parts):
        raise ValueError(f"about {about}: expected some of {parts}")
    try:
        with_gradients = parameters is not None
        dtype = dtype or _dtype_of(inputs)
        is_plain = with_gradients or dtype != torch.float32
        given = {name: copy_of(value, with_gradients, is_plain or contiguous) for name, value in inputs.items()}
        leaves = [_leaf(value, with_gradients) for value in inputs.values()]
        if with_gradients and dtype == torch.float32:
            for tensor in (next(iter(given.values())), leaves[0]):
                if tensor is not None:
                    tensor.requires_grad_(False)
        result = _call(function, given, is_plain)
        found = [result] if len(parts) == 1 else expect_parts(result, parts, "what is returned")
        try:
            chosen = _judge(found, candidates, leaves, inputs, parts, look_at, counted, dtype, about)
        except CheckFailed:
            if (
                not apart
                or case is None
                or parameters is None
                or (isinstance(candidates, CheckFailed) and not isinstance(candidates, OtherPartsError))
                or not candidates
                or is_right(function, candidates, inputs, parts, counted, dtype, about)
            ):
                raise

            def compute(arguments: Sequence[Tensor | None]) -> Any:
                returned = call_with_copies(function, arguments)
                return returned if len(parts) == 1 else expect_parts(returned, parts, "what is returned")[0]

            of_module = [parameter for parameter, _ in parameters]  # the values cost another item
            counts = counted[0] if counted else None
            expect_own_gradients(compute, [*given.values()], of_module, counts, case, DETACHED)
            return False
        if parameters is not None and case is not None:
            pairs = [(f"the gradient of {n}", g, e) for (n, g), e in zip(given.items(), leaves, strict=True)]
            pairs += [("the gradient of a parameter", got, leaf) for got, leaf in parameters]
            _compare_gradients(found[0], chosen[0], counted[:1], pairs, case)
        return True
    except UnreadableError:
        raise
    except CheckFailed as error:
        if error is candidates:  # another call has failed, with inputs of its own
            raise
        raise with_inputs(error, inputs) from None


def is_right(
    function: Callable[..., Any],
    candidates: Candidates,
    inputs: Inputs,
    parts: Sequence[str],
    counted: Sequence[Tensor | None] = (),
    dtype: torch.dtype | None = None,
    about: Sequence[str] = (),
) -> bool:
    """Whether a component computes what `expect_computes` expects."""
    try:
        expect_computes(function, candidates, inputs, parts, counted=counted, dtype=dtype, about=about)
    except UnreadableError:
        raise
    except CheckFailed:
        return False
    return True


def attempt(find: Callable[[], Sequence[Computation]]) -> Candidates:
    """What a component may compute, or the failure of finding it: that costs the tests of values alone."""
    try:
        return find()
    except UnreadableError:
        raise
    except CheckFailed as error:
        return error


def expect_no_state(
    function: Callable[..., Any],
    candidates: Candidates,
    inputs: Inputs,
    others: Inputs,
    parts: Sequence[str],
    *,
    fresh: Callable[[], bool] | None = None,
) -> None:
    """Fails where a call depends on an earlier one, changes what that returned, or changes its arguments.

    Args:
        function: of the submission: a function, or a module.
        candidates: independent computations, of which one must fit.
        inputs: the arguments by name; results have the dtype of the first one of floats, or float32.
        others: other values, of the same shapes.
        parts: names of what is returned.
        fresh: whether one that was not called before has the right values, where `function` was.
    """
    __tracebackhide__ = True
    arguments = dict(zip(others, copies_of(others.values()), strict=True))
    dtype = _dtype_of(others) or torch.float32

    def judge(result: Any, given: Inputs, look_at: str = "") -> None:
        __tracebackhide__ = True
        expect_computes(lambda *_, **__: result, candidates, given, parts, look_at, dtype=dtype)

    with torch.no_grad():
        with mixed_dtypes_explained():
            first = function(*arguments.values())
        expect_unchanged(function, arguments, others)
        kept = tensors_in(first, copied=True)
        try:
            judge(first, others)
        except UnreadableError:
            raise
        except CheckFailed:  # what is wrong from the start depends on no earlier call, and costs another item
            if not kept or (fresh is not None and fresh()):
                raise
            again = [copies_of(given.values()) for given in (others, inputs, inputs, inputs)]
            expect_no_memory([kept, *(tensors_in(function(*given), copied=True) for given in again)], STATE)
            return
        handed, what = copies_of(inputs.values()), "the result of an earlier call, after another call"
        for given in (inputs, others):  # the second time, the very same tensors have other contents
            for one, value in zip(handed, given.values(), strict=True):
                if one is not None and value is not None:
                    one.data.copy_(value)
            judge(function(*handed), given, STATE)
            expect(
                all_equal(kept, tensors_in(first)), what, "as it was", "changed", "return new tensors from each call"
            )


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


def _dtype_of(inputs: Inputs) -> torch.dtype | None:
    """That of the first input of floats."""
    return next((v.dtype for v in inputs.values() if v is not None and v.is_floating_point()), None)


def _leaf(value: Tensor | None, with_gradients: bool) -> Tensor | None:
    """What the candidates are handed. A query that may attend to nothing is expected to attend to everything."""
    if value is None or not value.is_floating_point():
        is_mask = value is not None and value.dtype == torch.bool
        return value | ~value.any(dim=-1, keepdim=True) if is_mask and value is not None else value
    return value.detach().double().requires_grad_(with_gradients)


def _computed(candidate: Computation, leaves: Sequence[Tensor | None], parts: Sequence[str]) -> list[Any]:
    result = candidate(*leaves)
    return [result] if len(parts) == 1 and not isinstance(result, (list, tuple)) else list(result)


def _fitting(
    found: Sequence[object],
    candidates: Sequence[Callable[[], list[Any]]],
    counted: Sequence[Tensor | None],
    judged: Sequence[int],
) -> list[Any]:
    """The results of the first candidate that fits what was returned; else of the nearest one."""
    __tracebackhide__ = True
    if not candidates:
        fail("the parameters", "some in which the parts can be recognised", "none that fit")
    nearest, smallest = candidates[0](), math.inf
    for number, candidate in enumerate(candidates if len(candidates) > 1 else ()):
        wanted = candidate() if number else nearest
        error = _distance(found, wanted, counted, judged)
        if error < smallest:
            nearest, smallest = wanted, error
        if error < TOLERANCE_OF_FLOAT32:
            break
    return nearest


def _distance(
    found: Sequence[object], wanted: Sequence[Any], counted: Sequence[Tensor | None], judged: Sequence[int]
) -> float:
    """The largest difference between results of these parts; infinite where they are not of the same shapes."""
    largest = 0.0
    for number in judged:
        one, other = found[number], wanted[number]
        factor = counted[number] if number < len(counted) else None
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


def _compare_gradients(
    found: Tensor,
    wanted: Tensor,
    counted: Sequence[Tensor | None],
    pairs: Sequence[tuple[str, Tensor | None, Tensor | None]],
    case: Case,
) -> None:
    """Compares gradients of a random sum over the first part; each pair is a tensor and the leaf that it should equal.

    Where large terms cancel, rounding shows: differences count in relation to the largest gradient of all.
    """
    __tracebackhide__ = True
    direction = case.normal(*wanted.shape)
    if counted and counted[0] is not None:
        direction = direction * counted[0]
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


def _call(function: Callable[..., Any], given: Inputs, is_plain: bool) -> Any:
    """Calls the submission; see `expect_computes`."""
    __tracebackhide__ = True
    with mixed_dtypes_explained():
        if is_plain:
            return call_with_copies(function, list(given.values()))
        first, *others = given
        with torch.inference_mode():
            return function(given[first], **{name: given[name] for name in others})


@contextmanager
def mixed_dtypes_explained() -> Iterator[None]:
    """A block in which an error of mixed dtypes gets a note on what it says about the parameters."""
    try:
        yield
    except RuntimeError as error:
        if any("Double" in str(error) and single in str(error) for single in ("Float", "float")):
            error.add_note(MIXED)
        raise


def _judge(
    found: Sequence[Any],
    candidates: Candidates,
    leaves: Sequence[Tensor | None],
    inputs: Inputs,
    parts: Sequence[str],
    look_at: str,
    counted: Sequence[Tensor | None],
    dtype: torch.dtype | None,
    about: Sequence[str],
) -> list[Any]:
    """Fails unless what was returned fits a candidate; returns that candidate's results."""
    __tracebackhide__ = True
    if isinstance(candidates, CheckFailed):
        raise candidates
    judged = [number for number, name in enumerate(parts) if not about or name in about]
    made = [partial(_computed, candidate, leaves, parts) for candidate in candidates]
    chosen = _fitting(found, made, counted, judged)
    numbers = range(len(parts))

    def failures(of_judged: bool) -> Iterator[CheckFailed]:
        for number in numbers:
            if (number in judged) == of_judged:
                factor = counted[number] if number < len(counted) else None
                try:
                    _compare(found[number], chosen[number], parts[number], look_at, dtype, factor)
                except CheckFailed as error:
                    yield _with_observation(error, inputs, "" if of_judged else f"in {parts[number]}: ")

    missed = list(failures(of_judged=True))
    if missed:  # the clearest one speaks; of the context, its weights may tell more
        clearest = max(missed, key=seen_in)
        raise clearest if seen_in(clearest) else _observed(clearest, max(map(seen_in, failures(False)), default=""))
    return chosen


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
