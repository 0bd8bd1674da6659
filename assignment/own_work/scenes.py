"""Calls of components that students are asked about: small ones, and such as one can compute by hand.

All axes of a small call differ in length, so that a shape tells which axis is which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from autograder.own_work.traced_questions import Scene
from autograder.testing.case import Case


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
    axes = {b: "sentences", h: "heads", t: "target positions", s: "source positions", d: "features"}
    told = (
        f"`DecoderLayer(d_model={d}, n_heads={h}, d_ff={inner})` on x ({b}, {t}, {d}) with memory ({b}, {s}, {d}), "
        f"src_mask ({b}, 1, 1, {s}) and a causal tgt_mask ({t}, {t})."
    )
    causal = torch.ones(t, t, dtype=torch.bool).tril()
    inputs = (normal(case, b, t, d), normal(case, b, s, d), padding(b, s), causal)
    made_with = {"d_model": d, "n_heads": h, "d_ff": inner}
    return Scene("layers.DecoderLayer", told, axes | {inner: "inner features"}, made_with, inputs)


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
    "embedding.InputEmbedding": embedding,
    "attention.scaled_dot_product_attention": attention,
    "attention.MultiHeadedAttention": multi_head,
    "layers.LayerNorm": layer_norm,
    "layers.FeedForward": feed_forward,
    "layers.EncoderLayer": encoder_layer,
    "layers.DecoderLayer": decoder_layer,
}
BY_HAND: Mapping[str, Callable[[Case], Scene]] = {
    "attention.scaled_dot_product_attention": attention_by_hand,
    "layers.LayerNorm": norm_by_hand,
}
"""Calls whose intermediate values one can compute without a calculator, or nearly so."""
