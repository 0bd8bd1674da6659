"""Side effects of calls: changed arguments, results, settings and modes, and whatever is remembered.

A component that does so fails these checks alone; in all others it is judged as if it had left things as they were.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .arguments import STATE, copies_of
from .case import Inputs
from .comparison import TOLERANCE_OF_FLOAT32, all_equal, difference, expect, fail
from .fitting import tensors_in
from .idle import is_idle
from .results import CHANGED, CheckFailed
from .subject import Subject

IN_PLACE = "x += y, x[...] = y and methods that end in an underscore write into x; write x = x + y, or copy it first"
LEFT = "a call must not change settings of the program, train or eval mode, or what an earlier call has got"
COPY = "a deep copy computes with parameters of its own: functions made in __init__ still use those of the original"


def expect_no_side_effects(
    subject: Subject,
    inputs: Inputs,
    others: Inputs,
    left_behind: Callable[..., Any],
    fresh: Callable[[], Subject] | None = None,
    copied: Callable[..., Any] | None = None,
    another: Callable[[], Any] | None = None,
) -> None:
    """Fail where a call depends on an earlier one, or changes its arguments, what an earlier one returned, or settings.

    Args:
        subject: the component.
        inputs: the arguments of a call, by name.
        others: with other values of the same shapes; they may have a mask where the inputs have none.
        left_behind: calls the component with each of two lists of arguments, and names what else that has changed.
        fresh: makes a component that was never called. If it is right where this one is wrong from the start, the
            earlier call is to blame.
        copied: calls a deep copy; the original has got other parameters since.
        another: makes a component with other parameters.

    Raises:
        CheckFailed: where there is one.
    """
    arguments = dict(zip(others, copies_of(others.values()), strict=True))
    with torch.no_grad():
        with subject.judged(others):
            first = subject.call(*arguments.values())
        expect_unchanged(arguments, others)
        changed = left_behind(copies_of(inputs.values()), copies_of(others.values()))
        expect(not changed, "what calls leave behind", "nothing but results", f"a change of {changed}", LEFT)
        kept = [tensor.detach().clone() for tensor in tensors_in(first)]
        try:
            subject.expect_result(first, others)
        except CheckFailed:  # what is wrong from the start depends on no earlier call, and costs another item
            if not kept or is_idle(subject, others) or (fresh is not None and fresh().is_right(inputs)):
                raise
            expect_equal_calls(subject.call, kept, inputs, others)
            return
        if another is not None:
            another()(*copies_of(others.values()))
        if copied is not None:
            with torch.inference_mode():
                result = copied(*copies_of(inputs.values()))
            subject.expect_result(result, inputs, COPY)
        handed, label = copies_of(inputs.values()), "the result of an earlier call, after another call"
        for values in (inputs, others):  # the second time, the very same tensors have other contents
            given = {name: value if inputs[name] is not None else None for name, value in values.items()}
            for argument, value in zip(handed, given.values(), strict=True):
                if argument is not None and value is not None:
                    argument.data.copy_(value)
            subject.expect_result(subject.call(*handed), given, STATE)
            is_kept = all_equal(kept, tensors_in(first))
            expect(is_kept, label, "as it was", "changed", "return new tensors from each call")


def expect_unchanged(given: Inputs, before: Inputs) -> None:
    """Fail where a call has changed an argument."""
    for name, value in given.items():
        old = before[name]
        if value is not None and old is not None and not all_equal([value.detach()], [old.detach()]):
            fail(f"{name} after the call", "unchanged values", CHANGED, IN_PLACE)


def expect_vectors_apart(subject: Subject, x: Tensor, look_at: str) -> None:
    """Fail where the result at a position depends on other positions or sentences of x (b, t, d)."""
    other = -2 * x.roll(1, dims=-1)
    other[-1, 1] = x[-1, 1]
    with torch.no_grad():
        first, again = (subject.call(values.clone()) for values in (x, other))
    if isinstance(first, Tensor) and first.shape == again.shape == x.shape:  # a wrong shape is for other tests
        is_same = difference(again[-1, 1], first[-1, 1]) <= TOLERANCE_OF_FLOAT32
        expect(is_same, "the result for a vector, among other vectors", "the same", "another one", look_at)


def expect_equal_calls(function: Callable[..., Any], kept: Sequence[Tensor], inputs: Inputs, others: Inputs) -> None:
    """Fail unless equal calls give equal results, and other calls other ones; `others` have given `kept`."""
    calls = [copies_of(given.values()) for given in (others, inputs, inputs, inputs)]
    again, other, *more = ([x.detach().clone() for x in tensors_in(function(*given))] for given in calls)
    for before, after in ((kept, again), *((other, repeated) for repeated in more)):
        expect(all_equal(before, after), "the same call, after others", "the same result", "another one", STATE)
    expect(not all_equal(kept, other), "calls with other inputs", "other results", "the same result", STATE)
