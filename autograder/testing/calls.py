"""Makes the same call of a submission's component and of an independent computation, and compares.

`Subject` is what tests use. Where gradients are compared, the first float32 input needs none, like the vectors of a
frozen embedding.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from .arguments import Inputs, call_with_copies, copies_of, copy_of, expect_unchanged, with_inputs
from .case import Case
from .comparison import all_equal, expect, expect_parts
from .fitting import DETACHED, STATE, Candidates, Computation, compare_gradients, judge, leaf_for, tensors_in
from .results import CheckFailed, OtherPartsError, UnreadableError
from .self_consistency import expect_no_memory, expect_own_gradients

MIXED = "The test makes all parameters float64. One stayed float32: is it registered as a part of the module?"


def expect_computes(
    function: Callable[..., Any],
    candidates: Candidates,
    inputs: Inputs,
    parts: Sequence[str],
    look_at: str = "",
    *,
    judged_where: Mapping[str, Tensor] | None = None,
    parameters: Sequence[tuple[Tensor, Tensor]] | None = None,
    case: Case | None = None,
    dtype: torch.dtype | None = None,
    of: Sequence[str] = (),
    gradients_only: bool = False,
    contiguous: bool = False,
) -> bool:
    """Fails unless `function` returns for these inputs what one of the candidates returns.

    Args:
        function: of the submission: a function, or a module.
        candidates: independent computations, of which one must fit; most often there is just one.
        inputs: the arguments by name; float64 or float32, and the results must have the same dtype.
        parts: names of what is returned; a list of tensors counts as one part.
        look_at: a hint for whoever fails.
        judged_where: of a part by its name: 1 where it counts and 0 where it may be anything.
        parameters: of the submission, each with the float64 leaf that the candidates compute with. If given, the
            gradients of these and of all inputs are compared, too.
        case: draws the direction of the backward pass, where `parameters` is given.
        dtype: of the results, where no input tells: None = that of the first input of floats.
        of: the parts that the test is about, where another test is about the others; () = all.
        gradients_only: whether the test is about gradients alone: where the values are wrong even without them, the
            gradients need only be those of what `function` computes, if it has most of the parts that it should have.
        contiguous: whether float32 inputs are laid out as they come: other layouts are for the test of another item.

    Returns:
        Whether the values are right; False only with `gradients_only`.
    """
    __tracebackhide__ = True
    if not set(of) <= set(parts):
        raise ValueError(f"of {of}: expected some of {parts}")
    try:
        factors = [(judged_where or {}).get(part) for part in parts]
        with_gradients = parameters is not None
        dtype = dtype or _dtype_of(inputs)
        is_plain = with_gradients or dtype != torch.float32
        given = {name: copy_of(value, with_gradients, is_plain or contiguous) for name, value in inputs.items()}
        leaves = [leaf_for(value, with_gradients) for value in inputs.values()]
        if with_gradients and dtype == torch.float32:
            for tensor in (next(iter(given.values())), leaves[0]):
                if tensor is not None:
                    tensor.requires_grad_(False)
        result = _call(function, given, is_plain)
        found = [result] if len(parts) == 1 else expect_parts(result, parts, "what is returned")
        try:
            chosen = judge(found, candidates, leaves, inputs, parts, look_at, factors, dtype, of)
        except CheckFailed:
            if (
                not gradients_only
                or case is None
                or parameters is None
                or (isinstance(candidates, CheckFailed) and not isinstance(candidates, OtherPartsError))
                or not candidates
                or is_right(function, candidates, inputs, parts, judged_where, dtype, of)
            ):
                raise

            def compute(arguments: Sequence[Tensor | None]) -> Any:
                returned = call_with_copies(function, arguments)
                return returned if len(parts) == 1 else expect_parts(returned, parts, "what is returned")[0]

            of_module = [parameter for parameter, _ in parameters]  # the values cost another item
            expect_own_gradients(compute, [*given.values()], of_module, factors[0], case, DETACHED)
            return False
        if parameters is not None and case is not None:
            pairs = [(f"the gradient of {n}", g, e) for (n, g), e in zip(given.items(), leaves, strict=True)]
            pairs += [("the gradient of a parameter", got, leaf) for got, leaf in parameters]
            compare_gradients(found[0], chosen[0], factors[0], pairs, case)
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
    judged_where: Mapping[str, Tensor] | None = None,
    dtype: torch.dtype | None = None,
    of: Sequence[str] = (),
) -> bool:
    """Whether a component computes what `expect_computes` expects."""
    try:
        expect_computes(function, candidates, inputs, parts, judged_where=judged_where, dtype=dtype, of=of)
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

    def compare(result: Any, given: Inputs, look_at: str = "") -> None:
        __tracebackhide__ = True
        expect_computes(lambda *_, **__: result, candidates, given, parts, look_at, dtype=dtype)

    with torch.no_grad():
        with mixed_dtypes_explained():
            first = function(*arguments.values())
        expect_unchanged(function, arguments, others)
        kept = tensors_in(first, copied=True)
        try:
            compare(first, others)
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
            compare(function(*handed), given, STATE)
            expect(
                all_equal(kept, tensors_in(first)), what, "as it was", "changed", "return new tensors from each call"
            )


def _dtype_of(inputs: Inputs) -> torch.dtype | None:
    """That of the first input of floats."""
    return next((v.dtype for v in inputs.values() if v is not None and v.is_floating_point()), None)


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
