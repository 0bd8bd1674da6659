"""Masks and numerical safety, which are items of their own in the rubric.

Where the values are wrong without a mask, too, what a mask hides must not count, and what it shows must. An
attention has one mask, with query, key and value; a layer, a stack or a model has masks for x and for the memory.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from autograder.testing.arguments import copies_of
from autograder.testing.case import Case, Inputs, earlier_keys
from autograder.testing.comparison import (
    NEGLIGIBLE,
    TOLERANCE_OF_FLOAT32,
    all_equal,
    difference,
    expect,
    expect_close,
    expect_shape,
)
from autograder.testing.fitting import CALL_FAILED, first_part, tensors_in
from autograder.testing.idle import is_mostly_idle
from autograder.testing.results import CheckFailed, NoPartsError, UnreadableError
from autograder.testing.subject import Subject

ROUNDED = 2e-2
"""Sums of weights of a lower precision, which is another item, agree so far in another order."""


def draw(case: Case, sizes: tuple[int, ...], dtype: torch.dtype = torch.float64) -> dict[str, Tensor | None]:
    """Random query, key and value, without a mask: (b, h, q, d) and (b, h, k, d) by b, h, q, k and d; or without h."""
    *batch, q, k, d = sizes
    shapes = {"query": (*batch, q, d), "key": (*batch, k, d), "value": (*batch, k, d)}
    return {name: case.normal(*shape, dtype=dtype) for name, shape in shapes.items()} | {"mask": None}


def expect_right_or_masks_obeyed(
    subject: Subject,
    inputs: Inputs,
    look_at: str,
    formula_judged_on: Inputs | None = None,
    has_own_parts: bool = False,
) -> None:
    """Fail where the first part is not right; of a formula that is wrong anyway, where masks are not obeyed.

    Of an attention that needs a reader, the masks of single heads must add up. Whether the formula is wrong anyway is
    judged on inputs without masks: None = on the same ones. The inputs are query, key, value and mask; or x or tokens
    and a mask; or x or tokens, memory, source mask and target mask. What agrees with parts of its own must obey masks
    as well: these may ignore them.
    """
    of, is_attention = subject.parts[:1], "query" in inputs
    plain = {name: None if name.endswith("mask") else value for name, value in inputs.items()}
    wrong = (CheckFailed,) if is_attention else (CheckFailed, *CALL_FAILED)
    try:
        subject.expect_values(inputs, look_at, of, contiguous=is_attention)
    except UnreadableError:
        if is_attention:
            expect_as_if_absent(subject, inputs, look_at)
            expect_one_mask_for_each_head(subject, inputs, look_at)
        raise
    except wrong as error:
        compared = getattr(error, "compared", None)
        if formula_judged_on and compared and difference(*compared) <= TOLERANCE_OF_FLOAT32:
            return  # the scores are large: how these are rounded is another item
        if has_no_parts(subject) or subject.is_right(formula_judged_on or plain, of):
            raise
        if subject.without_dropout and subject.is_random(plain):  # which costs other items
            settled = replace(subject, call=in_order(subject.without_dropout), without_dropout=None)
            expect_right_or_masks_obeyed(settled, inputs, look_at, formula_judged_on, has_own_parts)
            return
        if not is_attention and is_mostly_idle(subject, plain):
            raise
        if is_attention:
            expect_as_if_absent(subject, inputs, look_at)
            expect_one_mask_for_each_head(subject, inputs, look_at, all_count=False)
        else:
            expect_masks_obeyed(subject, plain, look_at)
    else:
        if has_own_parts:
            expect_masks_obeyed(subject, plain, look_at)


def in_order(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call that takes arguments by name, too, in the order of its own."""
    return lambda *given, **named: call(*given, *named.values())


def has_no_parts(subject: Subject) -> bool:
    """True of a module that learns nothing, or nothing of what it should."""
    has_none = not subject.parameters or isinstance(subject.formulas, NoPartsError)
    return isinstance(subject.call, nn.Module) and has_none


def expect_as_if_absent(subject: Subject, inputs: Inputs, look_at: str) -> None:
    """Fail unless each query gets what it gets where forbidden keys, or other queries, are not there at all.

    Query, key and value are (b, h, q, d) and so on, or (b, q, d) where the heads are inside; then a mask that differs
    between heads says nothing here.
    """
    query, key, value, mask = (cast("Tensor", inputs[name]) for name in ("query", "key", "value", "mask"))
    part, n_heads = subject.parts[0], query.size(1) if query.dim() == 4 else 1
    if mask.dim() == 4 and mask.size(1) > n_heads:
        return

    def output(query: Tensor, *others: Tensor) -> Tensor:
        return expect_shape(first_part(subject.call(query, *others), subject.parts), query.shape, part, look_at)

    first = output(query, key, value, mask)
    # Who averages what a mask allows, whatever query and key are, has no attention that a mask could restrict.
    others = {
        "queries, or of other keys": [(-query, key, value), (query, -key, value)],
        "keys and values": [(query, 2 * key, 2 * value)],
    }
    for name, several in others.items():
        is_used = any(difference(output(*other, mask), first) > TOLERANCE_OF_FLOAT32 for other in several)
        expect(is_used, f"{part} of other {name}", "another one", "the same", look_at)
    allowed = mask.expand(query.size(0), n_heads, query.size(-2), key.size(-2))
    by_head = first.reshape(*allowed.shape[:3], -1)
    for keys in allowed.flatten(0, -2).unique(dim=0):  # all sizes but that of the keys stay as they are
        if keys.any():
            wanted = output(query, key[..., keys, :], value[..., keys, :]).reshape(by_head.shape)
            places = (allowed == keys).all(-1)
            expect_close(by_head[places], wanted[places], part, look_at, TOLERANCE_OF_FLOAT32)
    if query.dim() == 4:  # within heads is a stand-in, for which the order of the keys counts
        turned = output(query, key.flip(-2), value.flip(-2), mask.flip(-1))
        expect_close(turned, first, f"{part} with the keys in another order", look_at, ROUNDED)
    if mask.size(-2) == 1:  # it is one of padding, which adds queries, too
        wanted = output(query[..., :-1, :], key, value, mask)
        expect_close(first[..., :-1, :], wanted, f"{part} with one query less", look_at, TOLERANCE_OF_FLOAT32)


def expect_one_mask_for_each_head(subject: Subject, inputs: Inputs, look_at: str, all_count: bool = True) -> None:
    """Fail unless the effects of masks, each on its own head, add up, as the heads' outputs do.

    One mask that forbids something must have an effect; where `all_count`, each.
    """
    query, key, value, mask = (cast("Tensor", inputs[name]) for name in ("query", "key", "value", "mask"))
    if mask.dim() < 4 or mask.size(1) == 1 or query.dim() == 4 or query.size(1) == 1:
        return
    part = subject.parts[0]

    def output(own: Tensor) -> Tensor:
        first = first_part(subject.call(*copies_of((query, key, value, own))), subject.parts)
        return expect_shape(first, query.shape, part, look_at).detach()[mask.any(-1).all(1)]

    nothing = torch.ones_like(mask)
    whole, changes, are_seen = output(nothing), [], []
    for head in range(mask.size(1)):
        alone = nothing.clone()
        alone[:, head] = mask[:, head]
        changes.append(output(alone) - whole)
        if not mask[:, head].all():
            are_seen.append(bool(changes[-1].abs().max() > TOLERANCE_OF_FLOAT32))
    is_right = (all if all_count else any)(are_seen)
    expect(is_right, f"{part} with a mask of one head alone", "another than without", "the same", look_at)
    label = f"{part} with a mask of its own for each head"
    expect_close(output(mask), whole + sum(changes), label, look_at, TOLERANCE_OF_FLOAT32)


def draw_pair(subject: Subject, draw_inputs: Callable[[str], Inputs], masks: str = "padding") -> tuple[Inputs, Inputs]:
    """Two draws of inputs, with these masks or, where they do not work, without; it has been called with the second."""
    others = draw_inputs(masks)
    if not subject.works(others):  # the same inputs again below: a call must not have seen others before
        masks = "none"
        others = draw_inputs(masks)
    return draw_inputs(masks), others


def expect_right_or_finite(
    subject: Subject,
    case: Case,
    inputs: Inputs,
    look_at: str,
    ordinary: Inputs,
    gradients_finite_too: bool = False,
    **options: Any,
) -> None:
    """Fail where the first part is not right; of a formula that is wrong anyway, where it or gradients are not finite.

    Whether the formula is wrong anyway is judged on ordinary inputs.
    """
    try:
        options |= {"case": case} if gradients_finite_too else {}
        subject.expect_values(inputs, look_at, subject.parts[:1], **options)
    except CheckFailed:
        if has_no_parts(subject) or subject.is_right(ordinary, subject.parts[:1]):
            raise
        given = copies_of(inputs.values())
        floats = [x.requires_grad_() for x in given if x is not None and x.is_floating_point()]
        result = subject.call(*given)
        first = first_part(result, subject.parts)
        if isinstance(first, Tensor) and first.requires_grad:
            first.sum().backward()
        for tensor in (*tensors_in(result), *(x.grad for x in floats if x.grad is not None)):
            expect_shape(tensor, tensor.shape, "results and gradients", look_at)


def expect_masks_obeyed(subject: Subject, plain: Inputs, look_at: str) -> None:
    """Fail where the last position of x or memory, which a mask hides, counts at others, or a visible one does not.

    x and memory are cut to one length, so that a component which confuses the two still returns something.
    """
    values = [value for value in plain.values() if value is not None]
    n = min(value.size(1) for value in values)
    values = [value[:, :n] for value in values]
    earlier = earlier_keys(n)
    causal = earlier.expand(len(values[0]), 1, n, n)
    padding = earlier[-2:][0].expand(len(values[0]), 1, 1, n)
    is_decoder = len(values) == 2
    for own in (causal,) if is_decoder else (causal, padding):
        masks = [padding, own] if is_decoder else [own]

        def output(*arguments: Tensor, masks: list[Tensor] = masks) -> Tensor:
            with torch.no_grad():
                result = first_part(subject.call(*copies_of([*arguments, *masks])), subject.parts)
            expect(isinstance(result, Tensor), subject.parts[0], "a tensor", type(result).__name__)
            return result  # type: ignore[no-any-return]  # it has just been checked

        whole = output(*values)
        is_same = all_equal([output(*values)], [whole])
        expect(
            is_same, f"{subject.parts[0]} of the same call again", "the same", "another, by chance: dropout?", look_at
        )
        for number, value in enumerate(values):
            cases = [(n - 1, slice(n - 1), True), (0, slice(n - 1, n), False), (n - 2, slice(n - 1, n), False)]
            if n > 2:  # earlier positions see later ones, but for a causal mask
                cases.append((n - 2, slice(n - 2), True) if own is causal and not number else (n - 2, slice(1), False))
            for place, reached, is_hidden in cases if n > 1 else ():
                if not is_hidden and bool((whole[:, reached] == whole[0, reached][0, 0]).all()):
                    continue  # after a relu at the end all may be 0, and nothing shows
                moved, here = value.clone(), value[:, place]
                is_tokens = value.dtype == torch.int64
                moved[:, place] = 1 - here.clamp(max=1) if is_tokens else here + torch.arange(1, here.size(-1) + 1)
                changed = output(*values[:number], moved, *values[number + 1 :])
                error = difference(changed[:, reached], whole[:, reached])
                how, ends = ("hidden", ("the same", "another")) if is_hidden else ("visible", ("another", "the same"))
                label = f"{subject.parts[0]} where {[*plain][number]} changes at a {how} place"
                expect(error <= TOLERANCE_OF_FLOAT32 if is_hidden else error > NEGLIGIBLE, label, *ends, look_at)
