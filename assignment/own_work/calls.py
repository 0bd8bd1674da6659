"""Calls of components: scenes to look into, such as one can compute by hand, and calls that tell versions apart.

All axes of a scene differ in length, so that a shape shows which axis is which. The calls by which versions of a
component are told apart are in float64, in eval mode unless a call says otherwise, and with random parameters that are
the same for all versions that have as many.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.own_work.questions import Scene
from autograder.testing.case import Case, SubmissionUnderTest, earlier_keys

Calls = Mapping[str, Callable[[], Any]]
PADDING = torch.tensor([[[[True, True, True, False, False]]], [[[True] * 5]]])
"""A mask (2, 1, 1, 5)."""
ATTENTION, HEADS, NORM = "attention.scaled_dot_product_attention", "attention.MultiHeadedAttention", "layers.LayerNorm"
ENCODER, DECODER = "layers.EncoderLayer", "layers.DecoderLayer"


def normal(case: Case, *shape: int) -> Tensor:
    """Draw values in float32."""
    return case.normal(*shape, dtype=torch.float32)


def padding(b: int, s: int) -> Tensor:
    """Mask (b, 1, 1, s) under which the last position of the first sentence is padding."""
    mask = torch.ones(b, 1, 1, s, dtype=torch.bool)
    mask[0, ..., -1] = False
    return mask


def scene(component: str, made_with: Mapping[str, Any] | None, **inputs: Tensor) -> Scene:
    """Describe a call by its arguments; a function has no `made_with`."""
    given = made_with or inputs
    made = ", ".join(f"{name}={value}" if made_with else name for name, value in given.items())
    shapes = ", ".join(f"{name} {tuple(value.shape)}" for name, value in inputs.items())
    call = f"`{component.partition('.')[2]}({made})` with {shapes}."
    return Scene(component, call, made_with, tuple(inputs.values()))


def attention(case: Case) -> Scene:
    """With a mask of padding."""
    b, h, q, k, d = case.chance.choice([(2, 3, 4, 5, 8), (3, 2, 5, 4, 7), (2, 4, 3, 6, 5), (3, 4, 6, 5, 2)])
    inputs = {name: normal(case, b, h, n, d) for name, n in (("query", q), ("key", k), ("value", k))}
    return scene(ATTENTION, None, **inputs, mask=padding(b, k))


def multi_head(case: Case) -> Scene:
    """Cross-attention: other queries than keys."""
    b, h, q, k, d = case.chance.choice([(2, 3, 4, 5, 18), (2, 4, 5, 3, 24), (3, 2, 4, 5, 12), (5, 2, 4, 3, 14)])
    inputs = {name: normal(case, b, n, d) for name, n in (("query", q), ("key", k), ("value", k))}
    return scene(HEADS, {"d_model": d, "n_heads": h}, **inputs, mask=padding(b, k))


def layer_norm(case: Case) -> Scene:
    """Three axes."""
    b, s, d = case.chance.choice([(2, 5, 8), (3, 4, 6), (4, 3, 7)])
    return scene(NORM, {"d_model": d}, x=normal(case, b, s, d))


def attention_by_hand(case: Case) -> Scene:
    """One query, two keys, and a d_k whose root is 2."""
    first, second = case.chance.choice([(6, 2), (4, 8), (2, 10), (8, 4)])
    query, key = torch.tensor([1.0, 1.0, 0.0, 0.0]), torch.tensor([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 5.0, 5.0]])
    key[0, 0], key[1, 1] = first, second
    value = torch.tensor([[1.0, 0.0, 0.0, 3.0], [0.0, 2.0, 4.0, 0.0]])
    call = (
        "`scaled_dot_product_attention(query, key, value)`, one sentence and one head, with the query (1, 1, 0, 0), "
        f"the keys ({first}, 0, 0, 0) and (0, {second}, 5, 5), and the values (1, 0, 0, 3) and (0, 2, 4, 0)."
    )
    inputs = (query.view(1, 1, 1, 4), key.view(1, 1, 2, 4), value.view(1, 1, 2, 4))
    return Scene(ATTENTION, call, None, inputs)


def norm_by_hand(case: Case) -> Scene:
    """Four features."""
    middle, away = case.size(2, 7), case.chance.choice([1, 2, 3])
    x = torch.tensor([[middle - away, middle + away, middle - away, middle + away]], dtype=torch.float32)
    listed = ", ".join(f"{value:g}" for value in x.flatten().tolist())
    call = f"`LayerNorm(d_model=4)`, as it was made, on one position with the features {listed}."
    return Scene(NORM, call, {"d_model": 4}, (x,))


SCENES: Mapping[str, Callable[[Case], Scene]] = {
    ATTENTION: attention,
    HEADS: multi_head,
    NORM: layer_norm,
}
BY_HAND: Mapping[str, Callable[[Case], Scene]] = {ATTENTION: attention_by_hand, NORM: norm_by_hand}
"""Calls whose intermediate values one can compute without a calculator, or nearly so."""


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
        return submission.call(ATTENTION, query, key, value, mask)

    some = earlier_keys(5)[1:]
    none = some.clone()
    none[2] = False
    return {
        "4 queries, 5 keys, `mask=None`": lambda: attend(4, 5),
        "4 queries, 5 keys, a mask of padding (2, 1, 1, 5)": lambda: attend(4, 5, PADDING),
        "4 queries, 5 keys, a mask (4, 5) that allows each query other keys, at least two": lambda: attend(4, 5, some),
        "4 queries, 5 keys, a mask (4, 5) that allows one query no key, and others at least two": lambda: attend(
            4, 5, none
        ),
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
        module = build(submission, case, HEADS, 12, heads)
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
        module = build(submission, case, NORM, 6, *arguments, randomised=randomised)
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
        "x of shape (2, 4, 6), in a fresh layer, with gain and shift as your code makes them": lambda: normalise(
            x, randomised=False
        ),
    }


def calls_of_layer(component: str, submission: SubmissionUnderTest, case: Case) -> Calls:
    """Both orders of normalisation, in evaluation and, without dropout, in training."""

    def run(*arguments: float, training: bool = False, mask: bool = True) -> Any:
        module: nn.Module = build(submission, case, component, 12, 3, 20, *arguments).train(training)
        x, memory = case.normal(2, 4, 12), case.normal(2, 5, 12)
        own, padding = earlier_keys(4), PADDING
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
    ATTENTION: calls_of_attention,
    HEADS: calls_of_heads,
    NORM: calls_of_norm,
    ENCODER: partial(calls_of_layer, ENCODER),
    DECODER: partial(calls_of_layer, DECODER),
}
