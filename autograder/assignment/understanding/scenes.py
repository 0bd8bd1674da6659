"""Small calls of the other components, all of whose axes differ in length."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from autograder.testing.case import Case

from ..scenes import SCENES as OF_HOME
from ..scenes import Scene, normal, padding


def embedding(case: Case) -> Scene:
    """Tokens to vectors."""
    b, s, d = case.choose([(2, 3, 8), (3, 5, 6), (2, 7, 4)])
    told = f"`InputEmbedding(vocab_size=20, d_model={d})` on tokens of shape ({b}, {s})."
    axes = {b: "sentences", s: "positions", d: "features"}
    return Scene("embedding.InputEmbedding", told, axes, {"vocab_size": 20, "d_model": d}, (case.tokens(20, b, s),))


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
    **OF_HOME,
    "embedding.InputEmbedding": embedding,
    "layers.FeedForward": feed_forward,
    "layers.EncoderLayer": encoder_layer,
    "layers.DecoderLayer": decoder_layer,
}
