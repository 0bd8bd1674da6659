"""Scaled dot-product attention: what is right, and what a wrong formula can still get right.

Masks and numerical safety are items of their own in the rubric. Where the formula is wrong without a mask, too, they
are judged by what the submission itself computes.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.testing.arguments import Inputs
from autograder.testing.calls import Candidates, expect_computes, is_right, tensors_in
from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE_OF_FLOAT32,
    difference,
    expect,
    expect_close,
    expect_parts,
    expect_shape,
)
from autograder.testing.results import CheckFailed

PARTS = ("context", "weights")

Subject = Callable[..., Any]


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """PyTorch's own; the weights are the context of the unit vectors as values."""
    units = torch.eye(key.size(-2), dtype=key.dtype).expand(*key.shape[:-1], key.size(-2))
    weights = F.scaled_dot_product_attention(query, key, units, attn_mask=mask)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), weights


def draw(case: Case, sizes: tuple[int, ...], dtype: torch.dtype = torch.float64) -> dict[str, Tensor | None]:
    """Random query (b, h, q, d), key and value (b, h, k, d), without a mask."""
    b, h, q, k, d = sizes
    shapes = {"query": (b, h, q, d), "key": (b, h, k, d), "value": (b, h, k, d)}
    return {name: case.normal(*shape, dtype=dtype) for name, shape in shapes.items()} | {"mask": None}


def expect_masked(
    subject: Subject,
    candidates: Candidates,
    inputs: Inputs,
    parts: Sequence[str],
    look_at: str,
    ordinary: Inputs | None = None,
    **options: Any,
) -> None:
    """Fails where the first part is not right; of a formula that is wrong anyway, where a forbidden key counts.

    Whether the formula is wrong anyway shows on `ordinary` inputs without a mask: None = on the same ones.
    """
    about = parts[:1]
    try:
        expect_computes(subject, candidates, inputs, parts, look_at, about=about, **options)
    except CheckFailed:
        if is_right(subject, candidates, ordinary or {**inputs, "mask": None}, parts, about=about):
            raise
        expect_as_if_absent(subject, inputs, parts, look_at)


def expect_as_if_absent(subject: Subject, inputs: Inputs, parts: Sequence[str], look_at: str) -> None:
    """Each query must get what it gets where the keys that the mask forbids are not there at all.

    Query, key and value are (b, h, q, d) and so on, or (b, q, d) where the heads are inside; then a mask that differs
    between heads says nothing here.
    """
    query, key, value, mask = (cast("Tensor", inputs[name]) for name in ("query", "key", "value", "mask"))
    n_heads = query.size(1) if query.dim() == 4 else 1
    if mask.dim() == 4 and mask.size(1) > n_heads:
        return
    allowed = mask.expand(query.size(0), n_heads, query.size(-2), key.size(-2))
    first = expect_parts(subject(*inputs.values()), parts, "what is returned")[0]
    first = expect_shape(first, query.shape, parts[0], look_at).reshape(query.size(0), n_heads, query.size(-2), -1)
    other = expect_parts(subject(query, 2 * key, 2 * value, mask), parts, "what is returned")[0]
    is_used = difference(other, first.reshape(query.shape)) > TOLERANCE_OF_FLOAT32
    expect(is_used, f"{parts[0]} of other keys and values", "another one", "the same", look_at)
    for keys in allowed.flatten(0, -2).unique(dim=0):  # all sizes but that of the keys stay as they are
        if keys.any():
            alone = expect_parts(subject(query, key[..., keys, :], value[..., keys, :]), parts, "what is returned")[0]
            wanted = expect_shape(alone, query.shape, parts[0], look_at).reshape(first.shape)
            places = (allowed == keys).all(-1)
            expect_close(first[places], wanted[places], parts[0], look_at, TOLERANCE_OF_FLOAT32)


def expect_safe(
    subject: Subject, case: Case, inputs: Inputs, look_at: str, counted: Sequence[Tensor | None] = (), **options: Any
) -> None:
    """Fails where context or gradients are not right; of a formula that is wrong anyway, where they are not finite."""
    try:
        about = ["context"]
        expect_computes(
            subject, [attention], inputs, PARTS, look_at, about=about, counted=counted, case=case, **options
        )
    except CheckFailed:
        if is_right(subject, [attention], draw(case, (2, 3, 4, 5, 7)), PARTS, about=["context"]):
            raise
        given = [one.clone() if one is not None else None for one in inputs.values()]
        floats = [one.requires_grad_() for one in given if one is not None and one.is_floating_point()]
        result = expect_parts(subject(*given), PARTS, "what is returned")
        if result[0].requires_grad:
            result[0].sum().backward()
        for tensor in (*tensors_in(result), *(one.grad for one in floats if one.grad is not None)):
            expect_shape(tensor, tensor.shape, "results and gradients", look_at)
