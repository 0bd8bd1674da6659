"""Calls of some components that students are asked about: small ones, and such as one can compute by hand.

All axes of a small call differ in length, so that a shape tells which axis is which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest


@dataclass(frozen=True)
class Scene:
    """A call of a component.

    Attributes:
        component: "layers.LayerNorm".
        told: the call in words.
        axes: length -> what an axis of that length is.
        made_with: arguments of the constructor; None for a function.
        inputs: of the call.
    """

    component: str
    told: str
    axes: Mapping[int, str]
    made_with: Mapping[str, Any] | None
    inputs: tuple[Tensor | None, ...]

    def subject(self, submission: SubmissionUnderTest) -> Any:
        """What is called: the function, or a module, which has random parameters."""
        if self.made_with is None:
            return self.component
        return submission.build(self.component, **self.made_with).eval()

    def watch(self, submission: SubmissionUnderTest, subject: Any, *arguments: Any) -> Any:
        """Makes the call of a function or of a `forward`, and looks on: see `stand_ins/watching.py`."""
        return submission.apply("watch", subject, list(self.inputs), *arguments)


def normal(case: Case, *shape: int) -> Tensor:
    """Values in float32."""
    return case.normal(*shape, dtype=torch.float32)


def padding(b: int, s: int) -> Tensor:
    """A mask (b, 1, 1, s) under which the last position of the first sentence is padding."""
    mask = torch.ones(b, 1, 1, s, dtype=torch.bool)
    mask[0, ..., -1] = False
    return mask


def attention(case: Case) -> Scene:
    """A call with a mask of padding."""
    b, h, q, k, d = case.choose([(2, 3, 4, 5, 8), (3, 2, 5, 4, 7), (2, 4, 3, 6, 5), (3, 4, 6, 5, 2)])
    told = (
        f"`scaled_dot_product_attention(query, key, value, mask)` with query ({b}, {h}, {q}, {d}), key and value "
        f"({b}, {h}, {k}, {d}), mask ({b}, 1, 1, {k})."
    )
    axes = {b: "sentences", h: "heads", q: "queries", k: "keys", d: "features of a head"}
    inputs = (normal(case, b, h, q, d), normal(case, b, h, k, d), normal(case, b, h, k, d), padding(b, k))
    return Scene("attention.scaled_dot_product_attention", told, axes, None, inputs)


def multi_head(case: Case) -> Scene:
    """Cross-attention: other queries than keys."""
    b, h, q, k, d = case.choose([(2, 3, 4, 5, 18), (2, 4, 5, 3, 24), (3, 2, 4, 5, 12), (5, 2, 4, 3, 14)])
    told = (
        f"`MultiHeadedAttention(d_model={d}, n_heads={h})` with query ({b}, {q}, {d}), key and value ({b}, {k}, {d}), "
        f"mask ({b}, 1, 1, {k})."
    )
    axes = {b: "sentences", h: "heads", q: "queries", k: "keys", d // h: "features of a head", d: "features"}
    inputs = (normal(case, b, q, d), normal(case, b, k, d), normal(case, b, k, d), padding(b, k))
    return Scene("attention.MultiHeadedAttention", told, axes, {"d_model": d, "n_heads": h}, inputs)


def layer_norm(case: Case) -> Scene:
    """Three axes."""
    b, s, d = case.choose([(2, 5, 8), (3, 4, 6), (4, 3, 7)])
    axes = {b: "sentences", s: "positions", d: "features", 1: "number for each position"}
    told = f"`LayerNorm(d_model={d})` on x of shape ({b}, {s}, {d})."
    return Scene("layers.LayerNorm", told, axes, {"d_model": d}, (normal(case, b, s, d),))


def attention_by_hand(case: Case) -> Scene:
    """One query, two keys, and a d_k whose root is 2."""
    first, second = case.choose([(6, 2), (4, 8), (2, 10), (8, 4)])
    query, key = torch.tensor([1.0, 1.0, 0.0, 0.0]), torch.tensor([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 5.0, 5.0]])
    key[0, 0], key[1, 1] = first, second
    value = torch.tensor([[1.0, 0.0, 0.0, 3.0], [0.0, 2.0, 4.0, 0.0]])
    told = (
        "`scaled_dot_product_attention(query, key, value)`, one sentence and one head, with the query (1, 1, 0, 0), "
        f"the keys ({first}, 0, 0, 0) and (0, {second}, 5, 5), and the values (1, 0, 0, 3) and (0, 2, 4, 0)."
    )
    inputs = (query.view(1, 1, 1, 4), key.view(1, 1, 2, 4), value.view(1, 1, 2, 4))
    return Scene("attention.scaled_dot_product_attention", told, {}, None, inputs)


def norm_by_hand(case: Case) -> Scene:
    """Four features."""
    middle, away = case.size(2, 7), case.choose([1, 2, 3])
    x = torch.tensor([[middle - away, middle + away, middle - away, middle + away]], dtype=torch.float32)
    listed = ", ".join(f"{value:g}" for value in x.flatten().tolist())
    told = f"`LayerNorm(d_model=4)`, as it was made, on one position with the features {listed}."
    return Scene("layers.LayerNorm", told, {}, {"d_model": 4}, (x,))


SCENES: Mapping[str, Callable[[Case], Scene]] = {
    "attention.scaled_dot_product_attention": attention,
    "attention.MultiHeadedAttention": multi_head,
    "layers.LayerNorm": layer_norm,
}
BY_HAND: Mapping[str, Callable[[Case], Scene]] = {
    "attention.scaled_dot_product_attention": attention_by_hand,
    "layers.LayerNorm": norm_by_hand,
}
"""Calls whose intermediate values one can compute without a calculator, or nearly so."""
