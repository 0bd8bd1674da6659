"""Small calls of each component, all of whose axes differ in length, so that a shape tells which axis is which."""

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
        made_with: arguments of the constructor.
        inputs: of the call.
        method: that is called; "" for a function.
    """

    component: str
    told: str
    axes: Mapping[int, str]
    made_with: Mapping[str, Any]
    inputs: tuple[Tensor | None, ...]
    method: str = "forward"

    def run(self, submission: SubmissionUnderTest) -> Any:
        """Makes the call."""
        if not self.method:
            return submission.call(self.component, *self.inputs)
        module = submission.build(self.component, **self.made_with).eval()
        call: Callable[..., Any] = module if self.method == "forward" else getattr(module, self.method)
        return call(*self.inputs)


def normal(case: Case, *shape: int) -> Tensor:
    """Values in float32."""
    return case.normal(*shape, dtype=torch.float32)


def padding(b: int, s: int) -> Tensor:
    """A mask (b, 1, 1, s) under which the last position of the first sentence is padding."""
    mask = torch.ones(b, 1, 1, s, dtype=torch.bool)
    mask[0, ..., -1] = False
    return mask


def embedding(case: Case) -> Scene:
    """Tokens to vectors."""
    b, s, d = case.choose([(2, 3, 8), (3, 5, 6), (2, 7, 4)])
    told = f"`InputEmbedding(vocab_size=20, d_model={d})` on tokens of shape ({b}, {s})."
    axes = {b: "sentences", s: "positions", d: "features"}
    return Scene("embedding.InputEmbedding", told, axes, {"vocab_size": 20, "d_model": d}, (case.tokens(20, b, s),))


def attention(case: Case) -> Scene:
    """A call with a mask of padding."""
    b, h, q, k, d = case.choose([(2, 3, 4, 5, 8), (3, 2, 5, 4, 7), (2, 4, 3, 6, 5), (3, 4, 6, 5, 2)])
    told = (
        f"`scaled_dot_product_attention(query, key, value, mask)` with query ({b}, {h}, {q}, {d}), key and value "
        f"({b}, {h}, {k}, {d}), mask ({b}, 1, 1, {k})."
    )
    axes = {b: "sentences", h: "heads", q: "queries", k: "keys", d: "features of a head"}
    inputs = (normal(case, b, h, q, d), normal(case, b, h, k, d), normal(case, b, h, k, d), padding(b, k))
    return Scene("attention.scaled_dot_product_attention", told, axes, {}, inputs, method="")


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


def feed_forward(case: Case) -> Scene:
    """An inner size of its own."""
    b, s, d, inner = case.choose([(2, 5, 8, 20), (3, 4, 6, 10), (2, 3, 12, 16)])
    axes = {b: "sentences", s: "positions", d: "features", inner: "inner features"}
    told = f"`FeedForward(d_model={d}, d_ff={inner})` on x of shape ({b}, {s}, {d})."
    return Scene("layers.FeedForward", told, axes, {"d_model": d, "d_ff": inner}, (normal(case, b, s, d),))


def encoder_layer(case: Case) -> Scene:
    """Self-attention with padding."""
    b, h, s, d, inner = case.choose([(2, 3, 5, 12, 20), (3, 2, 4, 10, 16)])
    axes = {b: "sentences", h: "heads", s: "positions", d: "features", inner: "inner features"}
    told = (
        f"`EncoderLayer(d_model={d}, n_heads={h}, d_ff={inner})` on x of shape ({b}, {s}, {d}) with a mask "
        f"({b}, 1, 1, {s})."
    )
    made_with = {"d_model": d, "n_heads": h, "d_ff": inner}
    return Scene("layers.EncoderLayer", told, axes, made_with, (normal(case, b, s, d), padding(b, s)))


def decoder_layer(case: Case) -> Scene:
    """A target and a source of different length."""
    b, h, t, s, d, inner = case.choose([(2, 3, 4, 5, 12, 20), (3, 2, 5, 4, 10, 16)])
    axes = {
        b: "sentences",
        h: "heads",
        t: "target positions",
        s: "source positions",
        d: "features",
        inner: "inner features",
    }
    told = (
        f"`DecoderLayer(d_model={d}, n_heads={h}, d_ff={inner})` on x ({b}, {t}, {d}) with memory ({b}, {s}, {d}), "
        f"src_mask ({b}, 1, 1, {s}) and a causal tgt_mask ({t}, {t})."
    )
    causal = torch.ones(t, t, dtype=torch.bool).tril()
    inputs = (normal(case, b, t, d), normal(case, b, s, d), padding(b, s), causal)
    return Scene("layers.DecoderLayer", told, axes, {"d_model": d, "n_heads": h, "d_ff": inner}, inputs)


SCENES: Mapping[str, Callable[[Case], Scene]] = {
    "embedding.InputEmbedding": embedding,
    "attention.scaled_dot_product_attention": attention,
    "attention.MultiHeadedAttention": multi_head,
    "layers.LayerNorm": layer_norm,
    "layers.FeedForward": feed_forward,
    "layers.EncoderLayer": encoder_layer,
    "layers.DecoderLayer": decoder_layer,
}
