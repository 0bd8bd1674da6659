"""Faulty attention, seen from outside: of one head, and of several."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

from .seeing import (
    CLEARLY,
    CLOSE,
    FEWER,
    MORE,
    Compared,
    Note,
    Observed,
    Seen,
    Symptoms,
    build,
    has_shape,
    numbers_of,
    same,
)


def look_at_attention(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """With and without a mask."""
    query, key, value = case.normal(2, 3, 4, 16), case.normal(2, 3, 5, 16), case.normal(2, 3, 5, 16)
    mask = case.mask(4, 5)
    empty = mask.clone()
    empty[1] = False

    def attend(*inputs: Any) -> Any:
        return submission.call("attention.scaled_dot_product_attention", *inputs)

    def gradients() -> list[bool]:
        leaves = [tensor.clone().requires_grad_() for tensor in (query, key, value)]
        attend(*leaves)[0].square().sum().backward()
        return [leaf.grad is not None and bool(leaf.grad.abs().sum() > 0) for leaf in leaves]

    note("mask", lambda: mask)
    note("plain", lambda: attend(query, key, value))
    note("masked", lambda: attend(query, key, value, mask))
    note("empty", lambda: attend(query, key, value, empty))
    note("gradients", gradients)


def sums_to_one(weights: Tensor) -> bool:
    """Whether the weights of each query do."""
    return same(weights.sum(dim=-1), torch.ones_like(weights.sum(dim=-1)))


def sharpness(seen: Observed) -> float:
    """The mean of the largest weights."""
    return float(seen["plain"][1].amax(dim=-1).mean())


ATTENTION = (
    Seen(
        "Even without a mask, the weights of a query do not add up to 1.",
        lambda seen: not sums_to_one(seen["plain"][1]),
    ),
    Seen(
        "The weights of a query add up to 1 without a mask, and no longer with one.",
        lambda seen: sums_to_one(seen["plain"][1]) and not sums_to_one(seen["masked"][1]),
    ),
    Seen(
        "A key that the mask forbids gets a weight above 0.",
        lambda s: bool((s["masked"][1] * ~s["mask"]).abs().max() > CLOSE),
    ),
    Seen(
        "The keys that the mask allows get no weight.", lambda s: bool((s["masked"][1] * s["mask"]).abs().max() < CLOSE)
    ),
    Compared(
        "The weights get sharper: the largest weight of a query grows.",
        lambda before, after: sums_to_one(after["plain"][1]) and sharpness(after) > sharpness(before) + CLEARLY,
    ),
    Compared(
        "The weights get flatter: the largest weight of a query shrinks.",
        lambda before, after: sums_to_one(after["plain"][1]) and sharpness(after) < sharpness(before) - CLEARLY,
    ),
    Seen("The context has another shape.", lambda seen: not has_shape(seen["plain"][0], 2, 3, 4, 16)),
    Seen("The weights have another shape.", lambda seen: not has_shape(seen["plain"][1], 2, 3, 4, 5)),
    Seen("A query that may attend to nothing gets NaN.", lambda seen: bool(seen["empty"][0].isnan().any())),
    Seen("The query gets no gradient.", lambda seen: not seen["gradients"][0]),
    Seen("The value gets no gradient.", lambda seen: not seen["gradients"][2]),
)


def look_at_multi_head(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """Query, key and value that differ, and each of them changed."""
    module = build(submission, case, "attention.MultiHeadedAttention", 12, 3)
    inputs = {"query": case.normal(2, 4, 12), "key": case.normal(2, 5, 12), "value": case.normal(2, 5, 12)}
    mask = case.padding_mask(2, 5)
    mask[0, ..., -1] = False

    def refuses() -> bool:
        try:
            submission.build("attention.MultiHeadedAttention", 10, 4, isolated=False)
        except Exception:
            return True
        return False

    note("mask", lambda: mask)
    note("numbers", lambda: numbers_of(module))
    note("plain", lambda: module(*inputs.values()))
    note("masked", lambda: module(*inputs.values(), mask))
    note("alone", lambda: module(*(tensor[:1] for tensor in inputs.values())))
    for name, tensor in inputs.items():
        changed = {**inputs, name: case.normal(*tensor.shape)}
        note(f"other {name}", partial(module, *changed.values()))
    note("refuses", refuses)


MULTI_HEAD = (
    FEWER,
    MORE,
    Seen("The weights have another shape than (b, h, q, k).", lambda seen: not has_shape(seen["plain"][1], 2, 3, 4, 5)),
    Seen("The output has another shape than the query.", lambda seen: not has_shape(seen["plain"][0], 2, 4, 12)),
    Seen(
        "A key that the mask forbids gets a weight above 0.",
        lambda s: bool((s["masked"][1] * ~s["mask"]).abs().max() > CLOSE),
    ),
    Seen("All heads have the same weights.", lambda seen: same(seen["plain"][1][:, 0], seen["plain"][1][:, 1])),
    Seen("Another value gives the same output.", lambda seen: same(seen["plain"][0], seen["other value"][0])),
    Seen("Another value gives other weights.", lambda seen: not same(seen["plain"][1], seen["other value"][1])),
    Seen("Another key gives the same weights.", lambda seen: same(seen["plain"][1], seen["other key"][1])),
    Seen("Another query gives the same weights.", lambda seen: same(seen["plain"][1], seen["other query"][1])),
    Seen(
        "What comes out for a sentence depends on the other sentences of the batch.",
        lambda seen: not same(seen["plain"][0][:1], seen["alone"][0]),
    ),
    Seen("`MultiHeadedAttention(d_model=10, n_heads=4)` is accepted.", lambda seen: not seen["refuses"]),
)

OF_ATTENTION: Symptoms = {
    "attention.scaled_dot_product_attention": (look_at_attention, ATTENTION),
    "attention.MultiHeadedAttention": (look_at_multi_head, MULTI_HEAD),
}
