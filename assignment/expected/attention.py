"""Attention and multi-headed attention: what is right, and what a wrong formula can still get right.

Masks and numerical safety are items of their own in the rubric. Where the formula is wrong without a mask, too, they
are judged by what the submission itself computes.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

from autograder.testing.arguments import Inputs, copies_of
from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    difference,
    expect,
    expect_close,
    expect_shape,
)
from autograder.testing.fitting import Computation, first_part, tensors_in
from autograder.testing.results import CheckFailed, UnreadableError
from autograder.testing.subject import Subject

from ..stand_ins.formulas import look_up
from ..stand_ins.own_tests import attend as attention
from .by_behaviour import normal
from .readings import Search, needs_reader
from .usual_layouts import UsualLayout, attention_formulas, find_attention

PARTS = ("context", "weights")
PARTS_OF_MODULE = ("output", "weights")
SPLIT = "follow the features of one position through each step: which head gets which of them, and on which axis?"


def draw(case: Case, sizes: tuple[int, ...], dtype: torch.dtype = torch.float64) -> dict[str, Tensor | None]:
    """Random query (b, h, q, d), key and value (b, h, k, d), without a mask."""
    b, h, q, k, d = sizes
    shapes = {"query": (b, h, q, d), "key": (b, h, k, d), "value": (b, h, k, d)}
    return {name: case.normal(*shape, dtype=dtype) for name, shape in shapes.items()} | {"mask": None}


def draw_positions(case: Case, sizes: tuple[int, ...], dtype: torch.dtype = torch.float64) -> Inputs:
    """Random query (b, q, d), key and value (b, k, d), without a mask."""
    b, q, k, d = sizes
    shapes = {"query": (b, q, d), "key": (b, k, d), "value": (b, k, d)}
    return {name: case.normal(*shape, dtype=dtype) for name, shape in shapes.items()} | {"mask": None}


def expect_right_or_mask_obeyed(
    subject: Subject, inputs: Inputs, look_at: str, formula_judged_on: Inputs | None = None, **options: Any
) -> None:
    """Fails where the first part is not right; of a formula that is wrong anyway, where a forbidden key counts.

    Of one that needs a reader, the masks of single heads must add up. Whether the formula is wrong anyway is judged on
    inputs without a mask: None = on the same ones.
    """
    of = subject.parts[:1]
    try:
        subject.expect_values(inputs, look_at, of, contiguous=True, **options)
    except UnreadableError:
        expect_as_if_absent(subject.call, inputs, subject.parts, look_at)
        expect_one_mask_for_each_head(subject.call, inputs, subject.parts, look_at)
        raise
    except CheckFailed:
        if subject.is_right(formula_judged_on or {**inputs, "mask": None}, of):
            raise
        expect_as_if_absent(subject.call, inputs, subject.parts, look_at)


def expect_as_if_absent(call: Callable[..., Any], inputs: Inputs, parts: Sequence[str], look_at: str) -> None:
    """Each query must get what it gets where the keys that the mask forbids, or other queries, are not there at all.

    Query, key and value are (b, h, q, d) and so on, or (b, q, d) where the heads are inside; then a mask that differs
    between heads says nothing here.
    """
    query, key, value, mask = (cast("Tensor", inputs[name]) for name in ("query", "key", "value", "mask"))
    n_heads = query.size(1) if query.dim() == 4 else 1
    if mask.dim() == 4 and mask.size(1) > n_heads:
        return
    allowed = mask.expand(query.size(0), n_heads, query.size(-2), key.size(-2))
    first = first_part(call(*inputs.values()), parts)
    first = expect_shape(first, query.shape, parts[0], look_at).reshape(query.size(0), n_heads, query.size(-2), -1)
    other = first_part(call(query, 2 * key, 2 * value, mask), parts)
    is_used = difference(other, first.reshape(query.shape)) > TOLERANCE_OF_FLOAT32
    expect(is_used, f"{parts[0]} of other keys and values", "another one", "the same", look_at)
    for keys in allowed.flatten(0, -2).unique(dim=0):  # all sizes but that of the keys stay as they are
        if keys.any():
            alone = first_part(call(query, key[..., keys, :], value[..., keys, :]), parts)
            wanted = expect_shape(alone, query.shape, parts[0], look_at).reshape(first.shape)
            places = (allowed == keys).all(-1)
            expect_close(first[places], wanted[places], parts[0], look_at, TOLERANCE_OF_FLOAT32)
    if mask.size(-2) == 1:  # it is one of padding, which adds queries, too
        fewer = query[..., :-1, :]
        alone = first_part(call(fewer, key, value, mask), parts)
        wanted = expect_shape(alone, fewer.shape, parts[0], look_at)
        what = f"{parts[0]} with one query less"
        expect_close(first.reshape(query.shape)[..., :-1, :], wanted, what, look_at, TOLERANCE_OF_FLOAT32)


def expect_one_mask_for_each_head(call: Callable[..., Any], inputs: Inputs, parts: Sequence[str], look_at: str) -> None:
    """What masks do to heads, each to its own, must add up, as the heads' outputs do; and some must do something."""
    query, key, value, mask = (cast("Tensor", inputs[name]) for name in ("query", "key", "value", "mask"))
    if mask.dim() < 4 or mask.size(1) == 1 or query.dim() == 4:
        return

    def output(own: Tensor) -> Tensor:
        first = first_part(call(*copies_of((query, key, value, own))), parts)
        return expect_shape(first, query.shape, parts[0], look_at).detach()[mask.any(-1).all(1)]

    nothing = torch.ones_like(mask)
    whole, changes = output(nothing), []
    for head in range(mask.size(1)):
        alone = nothing.clone()
        alone[:, head] = mask[:, head]
        changes.append(output(alone) - whole)
        is_right = bool(mask[:, head].all()) or bool(changes[-1].abs().max() > TOLERANCE_OF_FLOAT32)
        expect(is_right, f"{parts[0]} with a mask of one head alone", "another than without", "the same", look_at)
    what = f"{parts[0]} with a mask of its own for each head"
    expect_close(output(mask), whole + sum(changes), what, look_at, TOLERANCE_OF_FLOAT32)


def expect_right_or_finite(
    subject: Subject,
    case: Case,
    inputs: Inputs,
    look_at: str,
    ordinary: Inputs,
    gradients_finite_too: bool = False,
    **options: Any,
) -> None:
    """Fails where the first part is not right; of a formula that is wrong anyway, where it or gradients are not finite.

    Whether the formula is wrong anyway is judged on ordinary inputs.
    """
    try:
        options |= {"case": case} if gradients_finite_too else {}
        subject.expect_values(inputs, look_at, subject.parts[:1], **options)
    except CheckFailed:
        if subject.is_right(ordinary, subject.parts[:1]):
            raise
        given = [one.clone() if one is not None else None for one in inputs.values()]
        floats = [one.requires_grad_() for one in given if one is not None and one.is_floating_point()]
        result = subject.call(*given)
        first = first_part(result, subject.parts)
        if isinstance(first, Tensor) and first.requires_grad:
            first.sum().backward()
        for tensor in (*tensors_in(result), *(one.grad for one in floats if one.grad is not None)):
            expect_shape(tensor, tensor.shape, "results and gradients", look_at)


def multi_heads(
    module: nn.Module, leaves: Sequence[Tensor], n_heads: int, case: Case, search: Search
) -> list[Computation]:
    """The projections in the roles that explain what the module does.

    Where no roles explain it, the computation of the most usual layout, if the parameters look like that: something
    returned then differs from it, the weights alone where it gives the output.
    """
    parameters = list(module.parameters())
    d_model, dtype = d_model_of(leaves, n_heads), parameters[0].dtype
    shapes = ((2, 3, d_model), (2, 5, d_model), (2, 5, d_model))
    inputs = [case.normal(*shape, dtype=dtype) for shape in shapes]
    with torch.no_grad():
        result = module(*copies_of(inputs))
    output, weights = first_part(result, PARTS_OF_MODULE), next(iter(result[1:2]), None)
    expect_shape(output, shapes[0], "output", SPLIT, dtype)
    layout = UsualLayout.of(leaves, d_model, n_heads)
    doubles = [x.double() for x in inputs]
    tolerance = TOLERANCE if dtype == torch.float64 else TOLERANCE_OF_FLOAT32
    of_heads = (2, n_heads, 3, 5)
    if not isinstance(weights, Tensor) or weights.shape != of_heads:  # they are lost, but not the output
        weights = None
    if layout is not None and weights is not None:
        found = find_attention(layout, n_heads, doubles, output.double(), weights.double(), tolerance=tolerance)
        if found is not None:
            return [found]
    draw = normal((2, 3, d_model), (2, 4, d_model), (2, 4, d_model), None)
    if (placed := search(attention_formulas(d_model, n_heads), draw)) is not None:
        return [placed]
    if layout is None:
        expect_shape(weights, of_heads, "weights", "those of every head, as the attention returns them", dtype)
        needs_reader("multi-head attention")
    written_out = layout.most_usual(n_heads, attention)
    is_right = difference(written_out(*doubles)[0], output.double()) <= tolerance
    return [written_out if is_right else layout.most_usual(n_heads, look_up)]


def d_model_of(leaves: Sequence[Tensor], n_heads: int) -> int:
    """The size for which the parameters make up four d x d matrices, and perhaps biases."""
    total = sum(leaf.numel() for leaf in leaves)
    return max((d for d in range(n_heads, 513, n_heads) if 4 * d * d <= total), default=n_heads)


def check_numbers(parameters: Sequence[Tensor], d_model: int, n_heads: int) -> None:
    """Four projections and their biases (at most one for each head's part of the output), and nothing more."""
    total = sum(p.numel() for p in parameters)
    expect(
        4 * d_model**2 <= total <= 4 * d_model**2 + (4 + n_heads) * d_model,
        "the learned parameters",
        f"four d_model x d_model projections, {4 * d_model**2} numbers, and biases",
        f"{total} numbers",
        "query, key, value and output each have a projection of their own",
    )
