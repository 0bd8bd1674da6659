"""Faulty layers and embeddings, seen from outside."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

from .seeing import (
    CLEARLY,
    FEWER,
    MORE,
    RANDOM,
    Compared,
    Note,
    Observed,
    Seen,
    Symptoms,
    build,
    has_shape,
    numbers_of,
    same,
    with_another_position,
)


def look_at_embedding(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """Some tokens, one of them twice."""
    module = build(submission, case, "embedding.InputEmbedding", 11, 6)
    tokens = torch.tensor([[1, 4, 1], [7, 2, 9]])
    note("numbers", lambda: numbers_of(module))
    note("output", lambda: module(tokens).detach())
    note("again", lambda: module(tokens).detach())
    note("gradient", lambda: reaches(module, module(tokens)))


def reaches(module: nn.Module, output: Tensor) -> bool:
    """Whether a gradient of the output reaches any parameter."""
    if not output.requires_grad:
        return False
    output.sum().backward()
    return any(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in module.parameters())


def size(seen: Observed) -> float:
    """The root mean square of the output."""
    return float(seen["output"].square().mean().sqrt())


EMBEDDING = (
    FEWER,
    MORE,
    RANDOM,
    Compared("The vectors get shorter.", lambda before, after: size(after) < 0.97 * size(before)),
    Compared("The vectors get longer.", lambda before, after: size(after) > 1.03 * size(before)),
    Seen("The result has another shape.", lambda seen: not has_shape(seen["output"], 2, 3, 6)),
    Seen(
        "The same token gets different vectors at different positions.",
        lambda s: not same(s["output"][0, 0], s["output"][0, 2]),
    ),
    Seen("Different tokens get the same vector.", lambda seen: same(seen["output"][0, 0], seen["output"][0, 1])),
    Seen("No gradient reaches the table.", lambda seen: not seen["gradient"]),
)


def look_at_layer_norm(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """As it begins, with one position changed, and with other parameters."""
    module = build(submission, case, "layers.LayerNorm", 6, randomised=False)
    x = 3 * case.normal(2, 5, 6) + 10  # whatever divides by the root mean square shows clearly
    other = with_another_position(case, x)
    note("numbers", lambda: numbers_of(module))
    note("output", lambda: module(x).detach())
    note("again", lambda: module(x).detach())
    note("other", lambda: module(other).detach())
    note("larger", lambda: module(10 * x).detach())
    note("constant", lambda: module(torch.full((2, 5, 6), 2.0, dtype=torch.float64)).detach())
    learned = build(submission, case, "layers.LayerNorm", 6)
    note("learned", lambda: learned(x).detach())


def spread(seen: Observed) -> Tensor:
    """The variance of each position's features."""
    found: Tensor = seen["output"].var(dim=-1, unbiased=False)
    return found


LAYER_NORM = (
    FEWER,
    MORE,
    Seen("The result has another shape.", lambda seen: not has_shape(seen["output"], 2, 5, 6)),
    Seen(
        "In a new layer, the features of a position do not have mean 0.",
        lambda s: bool(s["output"].mean(dim=-1).abs().max() > CLEARLY),
    ),
    Seen(
        "In a new layer, the variance of a position's features is below 1.",
        lambda seen: bool((spread(seen) < 1 - CLEARLY).all()),
    ),
    Seen(
        "In a new layer, the variance of a position's features is above 1.",
        lambda seen: bool((spread(seen) > 1 + CLEARLY).all()),
    ),
    Seen(
        "What comes out at one position changes when another position changes.",
        lambda seen: not same(seen["output"][:, 1:], seen["other"][:, 1:]),
    ),
    Seen(
        "Ten times the input gives another result.", lambda s: bool((s["output"] - s["larger"]).abs().max() > CLEARLY)
    ),
    Seen("A constant input gives NaN.", lambda seen: bool(seen["constant"].isnan().any())),
    Seen("The learned parameters change nothing.", lambda seen: same(seen["output"], seen["learned"])),
)


def look_at_feed_forward(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """x, -x, 0, and x with one position changed."""
    module = build(submission, case, "layers.FeedForward", 6, 20)
    x = case.normal(2, 5, 6)
    other = with_another_position(case, x)
    note("numbers", lambda: numbers_of(module))
    note("output", lambda: module(x).detach())
    note("again", lambda: module(x).detach())
    note("other", lambda: module(other).detach())
    note("negative", lambda: module(-x).detach())
    note("zero", lambda: module(0 * x).detach())
    note("gradient", lambda: all(p.grad is not None for p in with_gradients(module, module(x))))


def with_gradients(module: nn.Module, output: Tensor) -> list[nn.Parameter]:
    """The parameters after a backward pass."""
    output.sum().backward()
    return list(module.parameters())


FEED_FORWARD = (
    FEWER,
    MORE,
    RANDOM,
    Seen("The result has another shape than x.", lambda seen: not has_shape(seen["output"], 2, 5, 6)),
    Seen(
        "What comes out at one position changes when another position changes.",
        lambda seen: not same(seen["output"][:, 1:], seen["other"][:, 1:]),
    ),
    Seen(
        "The network is affine: f(x) + f(-x) is 2 f(0) for every x.",
        lambda seen: same(seen["output"] + seen["negative"], 2 * seen["zero"]),
    ),
    Seen("No number of the result is negative.", lambda seen: bool((seen["output"] >= 0).all())),
    Seen("f(0) is 0.", lambda seen: same(seen["zero"], torch.zeros_like(seen["zero"]))),
    Seen("Some parameters get no gradient.", lambda seen: not seen["gradient"]),
)


def look_at_encoder_layer(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """With padding whose content changes, in both modes."""
    module = build(submission, case, "layers.EncoderLayer", 12, 3, 20, 0.5, randomised=False)
    x, mask = case.normal(2, 5, 12), torch.ones(2, 1, 1, 5, dtype=torch.bool)
    mask[0, ..., -1] = False
    other, first = x.clone(), x.clone()
    other[0, -1], first[:, 0] = case.normal(12), case.normal(2, 12)
    note("numbers", lambda: numbers_of(module))
    note("all", lambda: module(x, mask))
    note("output", lambda: module(x, mask)[0].detach())
    note("again", lambda: module(x, mask)[0].detach())
    note("other", lambda: module(other, mask)[0].detach())
    note("first", lambda: module(first, mask)[0].detach())
    module.train()
    note("training", lambda: [module(x, mask)[0].detach() for _ in range(2)])


def is_normal(output: Tensor) -> bool:
    """Whether the features of each position have mean 0 and variance 1."""
    mean, variance = output.mean(dim=-1), output.var(dim=-1, unbiased=False)
    return bool(mean.abs().max() < CLEARLY and (variance - 1).abs().max() < CLEARLY)


SHARED_OF_LAYERS = (
    FEWER,
    MORE,
    RANDOM,
    Seen("In train mode, two calls with the same input give the same result.", lambda seen: same(*seen["training"])),
    Seen(
        "In a new layer, the features of a position do not have mean 0 and variance 1.",
        lambda s: not is_normal(s["output"]),
    ),
)
ENCODER_LAYER = (
    *SHARED_OF_LAYERS,
    Seen("x comes back in another shape.", lambda seen: not has_shape(seen["output"], 2, 5, 12)),
    Seen("The weights have another shape than (b, h, s, s).", lambda seen: not has_shape(seen["all"][1], 2, 3, 5, 5)),
    Seen(
        "The content of padding changes what comes out at the other positions.",
        lambda seen: not same(seen["output"][0, :-1], seen["other"][0, :-1]),
    ),
    Seen(
        "A position no longer sees the others.",
        lambda seen: same(seen["output"][:, 1:], seen["first"][:, 1:]),
    ),
)


def look_at_decoder_layer(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """With another memory, other padding, and another last target position."""
    module = build(submission, case, "layers.DecoderLayer", 12, 3, 20, 0.5, randomised=False)
    x, memory = case.normal(2, 4, 12), case.normal(2, 5, 12)
    source, target = torch.ones(2, 1, 1, 5, dtype=torch.bool), torch.ones(4, 4, dtype=torch.bool).tril()
    source[0, ..., -1] = False
    padded, later, first = memory.clone(), x.clone(), x.clone()
    padded[0, -1], later[:, -1], first[:, 0] = case.normal(12), case.normal(2, 12), case.normal(2, 12)
    another = case.normal(2, 5, 12)
    note("numbers", lambda: numbers_of(module))
    note("all", lambda: module(x, memory, source, target))
    note("output", lambda: module(x, memory, source, target)[0].detach())
    note("again", lambda: module(x, memory, source, target)[0].detach())
    note("memory", lambda: module(x, another, source, target)[0].detach())
    note("padded", lambda: module(x, padded, source, target)[0].detach())
    note("later", lambda: module(later, memory, source, target)[0].detach())
    note("first", lambda: module(first, memory, source, target)[0].detach())
    module.train()
    note("training", lambda: [module(x, memory, source, target)[0].detach() for _ in range(2)])


DECODER_LAYER = (
    *SHARED_OF_LAYERS,
    Seen("x comes back in another shape.", lambda seen: not has_shape(seen["output"], 2, 4, 12)),
    Seen(
        "The weights of cross-attention have another shape than (b, h, t, s).",
        lambda s: not has_shape(s["all"][2], 2, 3, 4, 5),
    ),
    Seen("The memory does not matter.", lambda seen: same(seen["output"], seen["memory"])),
    Seen("The content of the source's padding matters.", lambda seen: not same(seen["output"], seen["padded"])),
    Seen(
        "Changing the last target position changes what comes out before it.",
        lambda seen: not same(seen["output"][:, :-1], seen["later"][:, :-1]),
    ),
    Seen(
        "Changing the first target position changes nothing after it.",
        lambda seen: same(seen["output"][:, 1:], seen["first"][:, 1:]),
    ),
)

OF_LAYERS: Symptoms = {
    "embedding.InputEmbedding": (look_at_embedding, EMBEDDING),
    "layers.LayerNorm": (look_at_layer_norm, LAYER_NORM),
    "layers.FeedForward": (look_at_feed_forward, FEED_FORWARD),
    "layers.EncoderLayer": (look_at_encoder_layer, ENCODER_LAYER),
    "layers.DecoderLayer": (look_at_decoder_layer, DECODER_LAYER),
}
