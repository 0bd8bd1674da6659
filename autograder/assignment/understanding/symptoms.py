"""What one sees of faulty code from outside, and what has to be observed to tell.

Each component is called a few times, before and after a change of its code, with the same inputs and parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.testing.case import Case
from autograder.testing.under_test import SubmissionUnderTest

Observed = Mapping[str, Any]
Note = Callable[[str, Callable[[], Any]], None]
"""Keeps what a call returns under a name; an exception is kept as one."""

CLOSE, CLEARLY = 1e-6, 0.03
"""Numbers that count as equal, and a difference that anybody sees."""


@dataclass(frozen=True)
class Seen:
    """A symptom that an observation shows by itself.

    Attributes:
        text: what one sees.
        is_seen: whether it is there; an exception where nobody can tell.
    """

    text: str
    is_seen: Callable[[Observed], bool]

    def shows(self, before: Observed, after: Observed) -> bool:
        """Whether it is there after a change.

        Raises:
            ValueError: where it was there before.
        """
        if self.is_seen(before):
            raise ValueError("it was there before")
        return self.is_seen(after)


@dataclass(frozen=True)
class Compared:
    """A symptom that shows in comparison.

    Attributes:
        text: what one sees.
        shows: whether the second observation shows it, compared with the first.
    """

    text: str
    shows: Callable[[Observed, Observed], bool]


def observe(component: str, submission: SubmissionUnderTest, case: Case) -> Observed:
    """The results that the symptoms of a component are told by, and "raised"."""
    found: dict[str, Any] = {"raised": False}

    def note(name: str, see: Callable[[], Any]) -> None:
        try:
            found[name] = see()
        except Exception:
            found["raised"] = True

    LOOKS[component](submission, case, note)
    return found


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two results agree."""
    return one.shape == other.shape and bool(torch.allclose(one, other, atol=CLOSE))


def has_shape(value: object, *shape: int) -> bool:
    """Whether this is a tensor of this shape."""
    return isinstance(value, Tensor) and tuple(value.shape) == shape


def build(
    submission: SubmissionUnderTest, case: Case, component: str, *arguments: float, randomised: bool = True
) -> nn.Module:
    """A module in eval mode, among the student's own other components."""
    module = submission.build(component, *arguments, dtype=torch.float64, isolated=False).eval()
    if randomised:
        case.randomise(module.parameters())
    return module


def numbers_of(module: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def with_another_position(case: Case, x: Tensor) -> Tensor:
    """A copy of x (b, t, d) in which the first position of each sentence is another one."""
    other = x.clone()
    other[:, 0] = case.normal(x.size(0), x.size(2))
    return other


RAISES = Seen("It raises an exception.", lambda seen: bool(seen["raised"]))
FEWER = Compared(
    "It has fewer learned numbers than before.", lambda before, after: after["numbers"] < before["numbers"]
)
MORE = Compared("It has more learned numbers than before.", lambda before, after: after["numbers"] > before["numbers"])
RANDOM = Seen(
    "In eval mode, two calls with the same input give different results.",
    lambda seen: not same(seen["output"], seen["again"]),
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
    RAISES,
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
    RAISES,
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
    RAISES,
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


def look_at_layer_norm(submission: SubmissionUnderTest, case: Case, note: Note) -> None:
    """As it begins, with one position changed, and with other parameters."""
    module = build(submission, case, "layers.LayerNorm", 6, randomised=False)
    x = 3 * case.normal(2, 5, 6) + 4
    other = with_another_position(case, x)
    note("numbers", lambda: numbers_of(module))
    note("output", lambda: module(x).detach())
    note("again", lambda: module(x).detach())
    note("other", lambda: module(other).detach())
    note("larger", lambda: module(10 * x).detach())
    note("constant", lambda: module(torch.full((2, 5, 6), 2.0, dtype=torch.float64)).detach())
    case.randomise(module.parameters())
    note("learned", lambda: module(x).detach())


def spread(seen: Observed) -> Tensor:
    """The variance of each position's features."""
    found: Tensor = seen["output"].var(dim=-1, unbiased=False)
    return found


LAYER_NORM = (
    RAISES,
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
    RAISES,
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
    RAISES,
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

LOOKS: Mapping[str, Callable[[SubmissionUnderTest, Case, Note], None]] = {
    "embedding.InputEmbedding": look_at_embedding,
    "attention.scaled_dot_product_attention": look_at_attention,
    "attention.MultiHeadedAttention": look_at_multi_head,
    "layers.LayerNorm": look_at_layer_norm,
    "layers.FeedForward": look_at_feed_forward,
    "layers.EncoderLayer": look_at_encoder_layer,
    "layers.DecoderLayer": look_at_decoder_layer,
}
SYMPTOMS: Mapping[str, Sequence[Seen | Compared]] = {
    "embedding.InputEmbedding": EMBEDDING,
    "attention.scaled_dot_product_attention": ATTENTION,
    "attention.MultiHeadedAttention": MULTI_HEAD,
    "layers.LayerNorm": LAYER_NORM,
    "layers.FeedForward": FEED_FORWARD,
    "layers.EncoderLayer": ENCODER_LAYER,
    "layers.DecoderLayer": DECODER_LAYER,
}
