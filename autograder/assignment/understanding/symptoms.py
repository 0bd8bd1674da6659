"""What one sees of faulty code from outside, and what has to be looked at to tell.

Each component is called a few times, before and after a change of its code, with the same inputs and parameters. A
symptom is a sentence with a function: whether what was seen shows it, or, in the second table of a component, whether
what was seen shows it compared with before. An exception means that nobody can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

from .calls import Calls, build

Seen = Mapping[str, Any]
IsSeen = Callable[[Seen], bool]
Shows = Callable[[Seen, Seen], bool]
Symptoms = tuple[Callable[[SubmissionUnderTest, Case], Calls], Mapping[str, IsSeen], Mapping[str, Shows]]

CLOSE, CLEARLY = 1e-6, 0.03
"""Numbers that count as equal, and a difference that anybody sees."""


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two results agree."""
    return one.shape == other.shape and bool(torch.allclose(one, other, atol=CLOSE))


def other_shape(value: object, *shape: int) -> bool:
    """Whether this is anything but a tensor of this shape."""
    return not isinstance(value, Tensor) or tuple(value.shape) != shape


def n_learned(module: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def with_gradients(output: Tensor, *leaves: Tensor) -> list[bool]:
    """Which tensors a gradient of the output reaches."""
    if output.requires_grad:
        output.square().sum().backward()
    return [leaf.grad is not None and bool(leaf.grad.abs().sum() > 0) for leaf in leaves]


def sums_to_one(weights: Tensor) -> bool:
    """Whether the weights of each query do."""
    return same(weights.sum(dim=-1), torch.ones_like(weights.sum(dim=-1)))


def largest(seen: Seen, where: Tensor) -> float:
    """The largest of the masked weights in some places. Raises: IndexError where they are not (2, 3, 4, 5)."""
    return float(seen["masked"][1][where.expand(2, 3, 4, 5)].abs().max())


LEARNED: dict[str, Shows] = {
    "It has fewer learned numbers than before.": lambda before, after: after["learned"] < before["learned"],
    "It has more learned numbers than before.": lambda before, after: after["learned"] > before["learned"],
}
RANDOM: Mapping[str, IsSeen] = {
    "In eval mode, two calls with the same input give different results.": lambda s: not same(s["output"], s["again"]),
}
FORBIDDEN: Mapping[str, IsSeen] = {
    "A key that the mask forbids gets a weight above 0.": lambda s: largest(s, ~s["mask"]) > CLOSE,
}


def look_at_embedding(submission: SubmissionUnderTest, case: Case) -> Calls:
    """Some tokens, one of them twice."""
    module = build(submission, case, "embedding.InputEmbedding", 11, 6)
    tokens = torch.tensor([[1, 4, 1], [7, 2, 9]])
    return {
        "learned": lambda: n_learned(module),
        "output": lambda: module(tokens),
        "again": lambda: module(tokens),
        "gradient": lambda: any(with_gradients(module(tokens), *module.parameters())),
    }


def length(seen: Seen) -> float:
    """The root mean square of the output."""
    return float(seen["output"].square().mean().sqrt())


LONGER: dict[str, Shows] = {
    "The vectors get shorter.": lambda before, after: length(after) < 0.97 * length(before),
    "The vectors get longer.": lambda before, after: length(after) > 1.03 * length(before),
}
EMBEDDING: Mapping[str, IsSeen] = {
    **RANDOM,
    "The result has another shape.": lambda s: other_shape(s["output"], 2, 3, 6),
    "The same token gets different vectors at different positions.": lambda s: (
        not same(s["output"][0, 0], s["output"][0, 2])
    ),
    "Different tokens get the same vector.": lambda s: same(s["output"][0, 0], s["output"][0, 1]),
    "No gradient reaches the table.": lambda s: not s["gradient"],
}


def look_at_attention(submission: SubmissionUnderTest, case: Case) -> Calls:
    """With and without a mask."""
    inputs = case.normal(2, 3, 4, 16), case.normal(2, 3, 5, 16), case.normal(2, 3, 5, 16)
    mask = case.mask(4, 5)
    empty = mask.clone()
    empty[1] = False

    def attend(*given: Any) -> Any:
        return submission.call("attention.scaled_dot_product_attention", *given)

    def gradients() -> list[bool]:
        leaves = [one.clone().requires_grad_() for one in inputs]
        return with_gradients(attend(*leaves)[0], *leaves)

    return {
        "mask": lambda: mask,
        "plain": lambda: attend(*inputs),
        "masked": lambda: attend(*inputs, mask),
        "empty": lambda: attend(*inputs, empty),
        "gradients": gradients,
    }


def growth(before: Seen, after: Seen) -> float:
    """By how much the largest weight of a query has grown, on average; 0 where the weights do not add up to 1."""
    one, other = (seen["plain"][1].amax(dim=-1).mean() for seen in (before, after))
    return float(other - one) if sums_to_one(after["plain"][1]) else 0.0


SHARPER: Mapping[str, Shows] = {
    "The weights get sharper: the largest weight of a query grows.": lambda *seen: growth(*seen) > CLEARLY,
    "The weights get flatter: the largest weight of a query shrinks.": lambda *seen: growth(*seen) < -CLEARLY,
}
ATTENTION: Mapping[str, IsSeen] = {
    **FORBIDDEN,
    "Even without a mask, the weights of a query do not add up to 1.": lambda s: not sums_to_one(s["plain"][1]),
    "The weights of a query add up to 1 without a mask, and no longer with one.": lambda s: (
        sums_to_one(s["plain"][1]) and not sums_to_one(s["masked"][1])
    ),
    "The keys that the mask allows get no weight.": lambda s: largest(s, s["mask"]) < CLOSE,
    "The context has another shape.": lambda s: other_shape(s["plain"][0], 2, 3, 4, 16),
    "The weights have another shape.": lambda s: other_shape(s["plain"][1], 2, 3, 4, 5),
    "A query that may attend to nothing gets NaN.": lambda s: bool(s["empty"][0].isnan().any()),
    "The query gets no gradient.": lambda s: not s["gradients"][0],
    "The value gets no gradient.": lambda s: not s["gradients"][2],
}


def look_at_heads(submission: SubmissionUnderTest, case: Case) -> Calls:
    """Query, key and value that differ, and each of them changed."""
    module = build(submission, case, "attention.MultiHeadedAttention", 12, 3)
    query, key, value = case.normal(2, 4, 12), case.normal(2, 5, 12), case.normal(2, 5, 12)
    others = case.normal(2, 4, 12), case.normal(2, 5, 12), case.normal(2, 5, 12)
    mask = case.padding_mask(2, 5)
    mask[0, ..., -1] = False

    def refuses() -> bool:
        try:
            submission.build("attention.MultiHeadedAttention", 10, 4, isolated=False)
        except Exception:
            return True
        return False

    return {
        "mask": lambda: mask,
        "learned": lambda: n_learned(module),
        "plain": lambda: module(query, key, value),
        "masked": lambda: module(query, key, value, mask),
        "alone": lambda: module(query[:1], key[:1], value[:1]),
        "other query": lambda: module(others[0], key, value),
        "other key": lambda: module(query, others[1], value),
        "other value": lambda: module(query, key, others[2]),
        "refuses": refuses,
    }


HEADS: Mapping[str, IsSeen] = {
    **FORBIDDEN,
    "The weights have another shape than (b, h, q, k).": lambda s: other_shape(s["plain"][1], 2, 3, 4, 5),
    "The output has another shape than the query.": lambda s: other_shape(s["plain"][0], 2, 4, 12),
    "All heads have the same weights.": lambda s: same(s["plain"][1][:, 0], s["plain"][1][:, 1]),
    "Another value gives the same output.": lambda s: same(s["plain"][0], s["other value"][0]),
    "Another value gives other weights.": lambda s: not same(s["plain"][1], s["other value"][1]),
    "Another key gives the same weights.": lambda s: same(s["plain"][1], s["other key"][1]),
    "Another query gives the same weights.": lambda s: same(s["plain"][1], s["other query"][1]),
    "What comes out for a sentence depends on the other sentences of the batch.": lambda s: (
        not same(s["plain"][0][:1], s["alone"][0])
    ),
    "`MultiHeadedAttention(d_model=10, n_heads=4)` is accepted.": lambda s: not s["refuses"],
}


def with_another_position(case: Case, x: Tensor) -> Tensor:
    """A copy of x (b, t, d) in which the first position of each sentence is another one."""
    other = x.clone()
    other[:, 0] = case.normal(x.size(0), x.size(2))
    return other


MIXED: Mapping[str, IsSeen] = {
    "What comes out at one position changes when another position changes.": lambda s: (
        not same(s["output"][:, 1:], s["other"][:, 1:])
    ),
}


def look_at_norm(submission: SubmissionUnderTest, case: Case) -> Calls:
    """As it begins, with one position changed, and with other parameters."""
    module = build(submission, case, "layers.LayerNorm", 6, randomised=False)
    x = 3 * case.normal(2, 5, 6) + 10  # whatever divides by the root mean square shows clearly
    other = with_another_position(case, x)
    learned = build(submission, case, "layers.LayerNorm", 6)
    return {
        "learned": lambda: n_learned(module),
        "output": lambda: module(x),
        "other": lambda: module(other),
        "larger": lambda: module(10 * x),
        "constant": lambda: module(torch.full_like(x, 2.0)),
        "with others": lambda: learned(x),
    }


def variances(seen: Seen) -> Tensor:
    """The variance of each position's features."""
    found: Tensor = seen["output"].var(dim=-1, unbiased=False)
    return found


NORM: Mapping[str, IsSeen] = {
    **MIXED,
    "The result has another shape.": lambda s: other_shape(s["output"], 2, 5, 6),
    "In a new layer, the features of a position do not have mean 0.": lambda s: bool(
        s["output"].mean(dim=-1).abs().max() > CLEARLY
    ),
    "In a new layer, the variance of a position's features is below 1.": lambda s: bool(
        (variances(s) < 1 - CLEARLY).all()
    ),
    "In a new layer, the variance of a position's features is above 1.": lambda s: bool(
        (variances(s) > 1 + CLEARLY).all()
    ),
    "Ten times the input gives another result.": lambda s: bool((s["output"] - s["larger"]).abs().max() > CLEARLY),
    "A constant input gives NaN.": lambda s: bool(s["constant"].isnan().any()),
    "The learned parameters change nothing.": lambda s: same(s["output"], s["with others"]),
}


def look_at_feed_forward(submission: SubmissionUnderTest, case: Case) -> Calls:
    """x, -x, 0, and x with one position changed."""
    module = build(submission, case, "layers.FeedForward", 6, 20)
    x = case.normal(2, 5, 6)
    other = with_another_position(case, x)
    return {
        "learned": lambda: n_learned(module),
        "output": lambda: module(x),
        "again": lambda: module(x),
        "other": lambda: module(other),
        "negative": lambda: module(-x),
        "zero": lambda: module(0 * x),
        "gradients": lambda: with_gradients(module(x), *module.parameters()),
    }


FEED_FORWARD: Mapping[str, IsSeen] = {
    **RANDOM,
    **MIXED,
    "The result has another shape than x.": lambda s: other_shape(s["output"], 2, 5, 6),
    "The network is affine: f(x) + f(-x) is 2 f(0) for every x.": lambda s: same(
        s["output"] + s["negative"], 2 * s["zero"]
    ),
    "No number of the result is negative.": lambda s: bool((s["output"] >= 0).all()),
    "f(0) is 0.": lambda s: same(s["zero"], torch.zeros_like(s["zero"])),
    "Some parameters get no gradient.": lambda s: not all(s["gradients"]),
}


def look_at_layer(component: str, submission: SubmissionUnderTest, case: Case) -> Calls:
    """With padding whose content changes, another memory, and other positions, in both modes."""
    module = build(submission, case, component, 12, 3, 20, 0.5, randomised=False)
    training = build(submission, case, component, 12, 3, 20, 0.5, randomised=False).train()
    x, memory = case.normal(2, 4, 12), case.normal(2, 5, 12)
    last, padded, another = x.clone(), memory.clone(), case.normal(2, 5, 12)
    last[0, -1] = padded[0, -1] = case.normal(12)
    first = with_another_position(case, x)
    padding = torch.ones(2, 1, 1, 5, dtype=torch.bool)
    padding[0, ..., -1] = False
    causal = torch.ones(4, 4, dtype=torch.bool).tril()

    def run(x: Tensor = x, memory: Tensor = memory, module: nn.Module = module) -> Any:
        return module(x, padding[..., 1:]) if component == ENCODER else module(x, memory, padding, causal)

    return {
        "learned": lambda: n_learned(module),
        "all": run,
        "output": lambda: run()[0],
        "again": lambda: run()[0],
        "first": lambda: run(first)[0],
        "last": lambda: run(last)[0],
        "memory": lambda: run(memory=another)[0],
        "padded": lambda: run(memory=padded)[0],
        "training": lambda: [run(module=training)[0] for _ in range(2)],
    }


def is_normal(output: Tensor) -> bool:
    """Whether the features of each position have mean 0 and variance 1."""
    mean, variance = output.mean(dim=-1), output.var(dim=-1, unbiased=False)
    return bool(mean.abs().max() < CLEARLY and (variance - 1).abs().max() < CLEARLY)


ENCODER, DECODER = "layers.EncoderLayer", "layers.DecoderLayer"
LAYER: Mapping[str, IsSeen] = {
    **RANDOM,
    "x comes back in another shape.": lambda s: other_shape(s["output"], 2, 4, 12),
    "In train mode, two calls with the same input give the same result.": lambda s: same(*s["training"]),
    "In a new layer, the features of a position do not have mean 0 and variance 1.": lambda s: (
        not is_normal(s["output"])
    ),
}
ENCODER_LAYER: Mapping[str, IsSeen] = {
    **LAYER,
    "The weights have another shape than (b, h, s, s).": lambda s: other_shape(s["all"][1], 2, 3, 4, 4),
    "The content of padding changes what comes out at the other positions.": lambda s: (
        not same(s["output"][0, :-1], s["last"][0, :-1])
    ),
    "A position no longer sees the others.": lambda s: same(s["output"][:, 1:], s["first"][:, 1:]),
}
DECODER_LAYER: Mapping[str, IsSeen] = {
    **LAYER,
    "The weights of cross-attention have another shape than (b, h, t, s).": lambda s: other_shape(
        s["all"][2], 2, 3, 4, 5
    ),
    "The memory does not matter.": lambda s: same(s["output"], s["memory"]),
    "The content of the source's padding matters.": lambda s: not same(s["output"], s["padded"]),
    "Changing the last target position changes what comes out before it.": lambda s: (
        not same(s["output"][:, :-1], s["last"][:, :-1])
    ),
    "Changing the first target position changes nothing after it.": lambda s: same(
        s["output"][:, 1:], s["first"][:, 1:]
    ),
}

SYMPTOMS: Mapping[str, Symptoms] = {
    "embedding.InputEmbedding": (look_at_embedding, EMBEDDING, LEARNED | LONGER),
    "attention.scaled_dot_product_attention": (look_at_attention, ATTENTION, SHARPER),
    "attention.MultiHeadedAttention": (look_at_heads, HEADS, LEARNED),
    "layers.LayerNorm": (look_at_norm, NORM, LEARNED),
    "layers.FeedForward": (look_at_feed_forward, FEED_FORWARD, LEARNED),
    ENCODER: (partial(look_at_layer, ENCODER), ENCODER_LAYER, LEARNED),
    DECODER: (partial(look_at_layer, DECODER), DECODER_LAYER, LEARNED),
}
"""Of each component: what calls it, and what may be seen, in the changed code and compared with the code as it is."""
