"""Masks of layers, stacks and models, which are items of their own in the rubric.

Where the values are wrong without a mask, too, what a mask hides must not count, and what it shows must.
"""

import torch
from torch import Tensor

from autograder.testing.arguments import Inputs, copies_of
from autograder.testing.comparison import NEGLIGIBLE, TOLERANCE_OF_FLOAT32, difference, expect
from autograder.testing.fitting import CALL_FAILED, first_part
from autograder.testing.results import CheckFailed
from autograder.testing.subject import Subject


def expect_right_or_masks_obeyed(subject: Subject, inputs: Inputs, look_at: str) -> None:
    """Fails where the first part is not right; of a component that is wrong without masks, where it ignores masks.

    The inputs are x or tokens and a mask, or x or tokens, memory, source mask and target mask.
    """
    of = subject.parts[:1]
    try:
        subject.expect_values(inputs, look_at, of)
    except (CheckFailed, *CALL_FAILED):
        plain = {name: None if name.endswith("mask") else value for name, value in inputs.items()}
        if subject.is_right(plain, of):
            raise
        expect_masks_obeyed(subject, plain, look_at)


def expect_masks_obeyed(subject: Subject, plain: Inputs, look_at: str) -> None:
    """Fails where the last position of x or memory, which a mask hides, counts at others, or the first does not count.

    x and memory are cut to one length, so that a component which confuses the two still returns something.
    """
    values = [value for value in plain.values() if value is not None]
    n = min(value.size(1) for value in values)
    values = [value[:, :n] for value in values]
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    padding = torch.arange(n).lt(n - 1).expand(len(values[0]), 1, 1, n)
    is_decoder = len(values) == 2
    for own in (causal,) if is_decoder else (causal, padding):
        masks = [padding, own] if is_decoder else [own]

        def output(*arguments: Tensor, masks: list[Tensor] = masks) -> Tensor:
            with torch.no_grad():
                result = first_part(subject.call(*copies_of([*arguments, *masks])), subject.parts)
            expect(isinstance(result, Tensor), subject.parts[0], "a tensor", type(result).__name__)
            return result  # type: ignore[no-any-return]  # it has just been checked

        whole = output(*values)
        for number, value in enumerate(values):
            for place, is_hidden in ((n - 1, True), (0, False)) if n > 1 else ():
                moved = value.clone()
                moved[:, place] = (
                    1 - moved[:, place].clamp(max=1) if value.dtype == torch.int64 else moved[:, place] + 1
                )
                changed = output(*values[:number], moved, *values[number + 1 :])
                reached = slice(n - 1 if is_hidden else n)
                error = difference(changed[:, reached], whole[:, reached])
                how, ends = ("hidden", ("the same", "another")) if is_hidden else ("visible", ("another", "the same"))
                what = f"{subject.parts[0]} where {[*plain][number]} changes at a {how} place"
                expect(error <= TOLERANCE_OF_FLOAT32 if is_hidden else error > NEGLIGIBLE, what, *ends, look_at)
