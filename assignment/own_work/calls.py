"""Calls of each component by which its versions are told apart.

Results are in float64, in eval mode unless a call says otherwise, and with random parameters that are the same for all
versions that have as many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.testing.case import Case
from autograder.testing.submission import SubmissionUnderTest

Calls = Mapping[str, Callable[[], Any]]
PADDING = torch.tensor([[True, True, True, False, False], [True] * 5])[:, None, None]
"""A mask (2, 1, 1, 5)."""


def build(
    submission: SubmissionUnderTest, case: Case, component: str, *arguments: float, randomised: bool = True
) -> nn.Module:
    """A module in eval mode, among the student's own other components."""
    module = submission.build(component, *arguments, dtype=torch.float64, isolated=False).eval()
    if randomised:
        case.randomise(module.parameters())
    return module


def calls_of_attention(submission: SubmissionUnderTest, case: Case) -> Calls:
    """With masks of each kind, and sizes of 1."""

    def attend(q: int, k: int, mask: Tensor | None = None, b: int = 2, d: int = 8, size: float = 1.0) -> Any:
        query, key, value = case.normal(b, 3, q, d), size * case.normal(b, 3, k, d), case.normal(b, 3, k, d)
        return submission.call("attention.scaled_dot_product_attention", query, key, value, mask)

    some = torch.ones(4, 5, dtype=torch.bool).tril(1)
    none = some.clone()
    none[2] = False
    return {
        "4 queries, 5 keys, `mask=None`": lambda: attend(4, 5),
        "4 queries, 5 keys, a mask of padding (2, 1, 1, 5)": lambda: attend(4, 5, PADDING),
        "4 queries, 5 keys, a mask (4, 5) that is not the same for all queries": lambda: attend(4, 5, some),
        "4 queries, 5 keys, a mask (4, 5) that forbids one query all keys and others some": lambda: attend(4, 5, none),
        "4 queries, 5 keys, a mask (4, 5) that allows everything": lambda: attend(4, 5, some | True),
        "4 queries, a single key, `mask=None`": lambda: attend(4, 1),
        "a single sentence of 4 queries and 4 keys, `mask=None`": lambda: attend(4, 4, b=1),
        "4 queries, 5 keys, vectors of a single feature, `mask=None`": lambda: attend(4, 5, d=1),
        "4 queries, 5 keys, all keys zeros, a mask of padding (2, 1, 1, 5)": lambda: attend(4, 5, PADDING, size=0.0),
    }


def calls_of_heads(submission: SubmissionUnderTest, case: Case) -> Calls:
    """Self- and cross-attention, one head and several."""

    def attend(
        heads: int, mask: Tensor | None = None, q: int = 4, k: int = 5, alike: bool = False, size: float = 1.0
    ) -> Any:
        module = build(submission, case, "attention.MultiHeadedAttention", 12, heads)
        query, key, value = case.normal(2, q, 12), case.normal(2, k, 12), size * case.normal(2, k, 12)
        return module(query, query if alike else key, query if alike else value, mask)

    everything = torch.ones(4, 5, dtype=torch.bool)
    return {
        "3 heads, 4 queries, 5 keys, `mask=None`": lambda: attend(3),
        "3 heads, 4 queries, 5 keys, a mask of padding (2, 1, 1, 5)": lambda: attend(3, PADDING),
        "1 head, 4 queries, 5 keys, `mask=None`": lambda: attend(1),
        "3 heads, query = key = value, `mask=None`": lambda: attend(3, alike=True),
        "3 heads, a single query and a single key, `mask=None`": lambda: attend(3, q=1, k=1),
        "3 heads, 4 queries, 5 keys, all values zeros, `mask=None`": lambda: attend(3, size=0.0),
        "3 heads, 4 queries, 5 keys, a mask (4, 5) that allows everything": lambda: attend(3, everything),
        "5 heads for `d_model=12`": lambda: attend(5),
    }


def calls_of_norm(submission: SubmissionUnderTest, case: Case) -> Calls:
    """Inputs in which mean, variance or epsilon say little."""

    def normalise(x: Tensor, *arguments: float, randomised: bool = True) -> Any:
        module = build(submission, case, "layers.LayerNorm", 6, *arguments, randomised=randomised)
        return module(x)

    x = case.normal(2, 4, 6)
    half = case.normal(2, 4, 3)
    centred = torch.cat([half, -half], dim=-1)
    return {
        "x of shape (2, 4, 6), normally distributed": lambda: normalise(x),
        "x of shape (2, 4, 6), in which each position has the mean 0": lambda: normalise(centred),
        "x of shape (2, 4, 6), all features of a position equal": lambda: normalise(x[..., :1].expand(2, 4, 6)),
        "x of shape (2, 4, 6), all zeros": lambda: normalise(0 * x),
        "x of shape (6,)": lambda: normalise(x[0, 0]),
        "x of shape (2, 4, 6), with `epsilon=1.0`": lambda: normalise(x, 1.0),
        "x of shape (2, 4, 6), in a fresh layer that has not learned anything": lambda: normalise(x, randomised=False),
    }


def calls_of_feed_forward(submission: SubmissionUnderTest, case: Case) -> Calls:
    """Zeros, and several positions."""

    def apply(x: Tensor) -> Any:
        return build(submission, case, "layers.FeedForward", 6, 10)(x)

    return {
        "x of shape (2, 4, 6)": lambda: apply(case.normal(2, 4, 6)),
        "x of shape (2, 4, 6), all zeros": lambda: apply(torch.zeros(2, 4, 6, dtype=torch.float64)),
        "x of shape (2, 4, 6), all ones": lambda: apply(torch.ones(2, 4, 6, dtype=torch.float64)),
        "x of shape (1, 1, 6)": lambda: apply(case.normal(1, 1, 6)),
        "x of shape (2, 4, 6), very large numbers": lambda: apply(1e6 * case.normal(2, 4, 6)),
    }


def calls_of_layer(component: str, submission: SubmissionUnderTest, case: Case) -> Calls:
    """Both orders of normalisation, in evaluation and, without dropout, in training."""

    def run(*arguments: float, training: bool = False, mask: bool = True) -> Any:
        module: nn.Module = build(submission, case, component, 12, 3, 20, *arguments).train(training)
        x, memory = case.normal(2, 4, 12), case.normal(2, 5, 12)
        own, padding = torch.ones(4, 4, dtype=torch.bool).tril(), PADDING
        if not mask:
            own, padding = own | True, padding | True
        return module(x, own) if is_encoder else module(x, memory, padding, own)

    is_encoder = component.endswith("EncoderLayer")
    masked = "a causal mask" if is_encoder else "a causal `tgt_mask` and a `src_mask` of padding"
    allowed = "a mask that allows everything" if is_encoder else "masks that allow everything"
    return {
        f"`norm_first=False`, in eval mode, {masked}": lambda: run(0.1),
        f"`norm_first=True`, in eval mode, {masked}": lambda: run(0.1, True),
        f"`norm_first=False`, in eval mode, {allowed}": lambda: run(0.1, mask=False),
        f"`norm_first=False`, `dropout=0`, in training mode, {masked}": lambda: run(0.0, training=True),
        f"`norm_first=True`, `dropout=0`, in training mode, {masked}": lambda: run(0.0, True, training=True),
    }


CALLS: Mapping[str, Callable[[SubmissionUnderTest, Case], Calls]] = {
    "attention.scaled_dot_product_attention": calls_of_attention,
    "attention.MultiHeadedAttention": calls_of_heads,
    "layers.LayerNorm": calls_of_norm,
    "layers.FeedForward": calls_of_feed_forward,
    "layers.EncoderLayer": partial(calls_of_layer, "layers.EncoderLayer"),
    "layers.DecoderLayer": partial(calls_of_layer, "layers.DecoderLayer"),
}
