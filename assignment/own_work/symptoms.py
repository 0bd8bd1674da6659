"""Symptoms of faulty code, as seen from outside.

Each component is called a few times, before and after a change of its code, with the same inputs and parameters. A
symptom is a sentence with a function that returns whether it is seen. A pair of sentences has a function that returns
numbers: the first is seen where they become smaller, the second where they become larger. An exception or NaN means
that nobody can tell: the sentence is no choice then, neither a right one nor a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import nan

import torch
from torch import Tensor, nn

from autograder.testing.case import Case, SubmissionUnderTest

from .calls import build

Symptoms = Mapping[str | tuple[str, str], Callable[[], bool | float | Tensor]]

CLOSE, HARDLY, CLEARLY = 1e-6, 1e-3, 0.03
"""Numbers that count as equal, a difference that nobody calls clear, and one that everybody does."""
LEARNED = "It has fewer learned numbers than before.", "It has more learned numbers than before."
SHARPER = (
    "Without a mask, the weights get flatter: the largest weight of a query shrinks.",
    "Without a mask, the weights get sharper: the largest weight of a query grows.",
)
FORBIDDEN = "A key that the mask forbids gets a weight other than 0, though others are allowed."


def same(first: Tensor, other: Tensor) -> bool:
    """True if two results agree."""
    return first.shape == other.shape and bool(torch.allclose(first, other, atol=CLOSE))


def other_shape(value: object, *shape: int) -> bool:
    """True if this is anything but a tensor of this shape."""
    return not isinstance(value, Tensor) or tuple(value.shape) != shape


def n_learned(module: nn.Module) -> int:
    """Number of learned numbers."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def with_gradients(output: Tensor, *leaves: Tensor) -> list[bool]:
    """Return for each tensor whether a gradient of the output reaches it."""
    if output.requires_grad:
        output.square().sum().backward()
    return [leaf.grad is not None and bool(leaf.grad.abs().sum() > 0) for leaf in leaves]


def sums_to_one(weights: Tensor) -> bool:
    """True if the weights of each query do."""
    return same(weights.sum(dim=-1), torch.ones_like(weights.sum(dim=-1)))


def clearly(sizes: Tensor) -> float:
    """1.0 if all numbers are above CLEARLY, 0.0 if all are below HARDLY; NaN in between, where people may differ."""
    return 1.0 if bool((sizes > CLEARLY).all()) else 0.0 if bool((sizes < HARDLY).all()) else nan


def largest(weights: Tensor, where: Tensor) -> float:
    """The largest of the weights in some places. Raises: IndexError where they are not (2, 3, 4, 5)."""
    return float(weights.detach()[where.expand(2, 3, 4, 5)].abs().max())


def of_attention(submission: SubmissionUnderTest, case: Case) -> Symptoms:
    """With and without a mask."""
    inputs = case.normal(2, 3, 4, 16), case.normal(2, 3, 5, 16), case.normal(2, 3, 5, 16)
    mask = case.mask(4, 5)
    empty = mask.clone()
    empty[1] = False
    attend = partial(submission.call, "attention.scaled_dot_product_attention")
    context, weights = attend(*inputs)
    _, masked = attend(*inputs, mask)
    context_of_nothing, _ = attend(*inputs, empty)
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    gradients = with_gradients(attend(*leaves)[0], *leaves)
    return {
        FORBIDDEN: lambda: largest(masked, ~mask) > 0,
        "Even without a mask, the weights of a query do not add up to 1.": lambda: not sums_to_one(weights),
        "The weights of a query add up to 1 without a mask, and no longer with one.": lambda: (
            sums_to_one(weights) and not sums_to_one(masked)
        ),
        "The keys that the mask allows get no weight.": lambda: largest(masked, mask) < CLOSE,
        "The context has another shape.": lambda: other_shape(context, 2, 3, 4, 16),
        "The weights have another shape.": lambda: other_shape(weights, 2, 3, 4, 5),
        "A query that may attend to nothing gets NaN.": lambda: bool(context_of_nothing.isnan().any()),
        "Without a mask, the query gets no gradient.": lambda: not gradients[0],
        "Without a mask, the value gets no gradient.": lambda: not gradients[2],
        SHARPER: lambda: weights.detach().amax(dim=-1) if sums_to_one(weights) else nan,
    }


def of_heads(submission: SubmissionUnderTest, case: Case) -> Symptoms:
    """Query, key and value that differ, and each of them changed."""
    module = build(submission, case, "attention.MultiHeadedAttention", 12, 3)
    query, key, value = case.normal(2, 4, 12), case.normal(2, 5, 12), case.normal(2, 5, 12)
    others = case.normal(2, 4, 12), case.normal(2, 5, 12), case.normal(2, 5, 12)
    mask = case.padding_mask(2, 5)
    mask[0, ..., -1] = False
    output, weights = module(query, key, value)
    _, masked = module(query, key, value, mask)
    alone, _ = module(query[:1], key[:1], value[:1])
    _, of_other_query = module(others[0], key, value)
    _, of_other_key = module(query, others[1], value)
    with_other_value, of_other_value = module(query, key, others[2])

    def accepts() -> bool:
        try:
            submission.build("attention.MultiHeadedAttention", 10, 4, isolated=False)
        except Exception:
            return False
        return True

    return {
        FORBIDDEN: lambda: largest(masked, ~mask) > 0,
        "The weights have another shape than (b, h, q, k).": lambda: other_shape(weights, 2, 3, 4, 5),
        "The output has another shape than the query.": lambda: other_shape(output, 2, 4, 12),
        "All heads have the same weights.": lambda: same(weights, weights[:, :1].expand_as(weights)),
        "Another value gives the same output.": lambda: same(output, with_other_value),
        "Another value gives other weights.": lambda: not same(weights, of_other_value),
        "Another key gives the same weights.": lambda: same(weights, of_other_key),
        "Another query gives the same weights.": lambda: same(weights, of_other_query),
        "What comes out for a sentence depends on the other sentences of the batch.": lambda: (
            not same(output[:1], alone)
        ),
        "`MultiHeadedAttention(d_model=10, n_heads=4)` is accepted.": accepts,
        LEARNED: lambda: n_learned(module),
    }


def of_norm(submission: SubmissionUnderTest, case: Case) -> Symptoms:
    """As it begins, with one position changed, and with other parameters."""
    module = build(submission, case, "layers.LayerNorm", 6, randomised=False)
    x = 3 * case.normal(2, 5, 6) + 10  # whatever divides by the root mean square shows clearly
    moved = torch.cat([case.normal(2, 1, 6), x[:, 1:]], dim=1)
    output, other = module(x), module(moved)
    larger, constant = module(10 * x), module(torch.full_like(x, 2.0))
    learned = build(submission, case, "layers.LayerNorm", 6)(x)
    variances = partial(torch.var, output, dim=-1, unbiased=False)
    return {
        "What comes out at one position changes when another position changes.": lambda: (
            not same(output[:, 1:], other[:, 1:])
        ),
        "The result has another shape.": lambda: other_shape(output, 2, 5, 6),
        "In a new layer, the mean of a position's features is clearly not 0.": lambda: clearly(
            output.mean(dim=-1).abs()
        ),
        "In a new layer, the variance of a position's features is clearly below 1.": lambda: clearly(1 - variances()),
        "In a new layer, the variance of a position's features is clearly above 1.": lambda: clearly(variances() - 1),
        "Ten times the input gives a clearly different result.": lambda: clearly((output - larger).abs().max()),
        "A constant input gives NaN.": lambda: bool(constant.isnan().any()),
        "The learned parameters change nothing.": lambda: same(output, learned),
        LEARNED: lambda: n_learned(module),
    }


SYMPTOMS: Mapping[str, Callable[[SubmissionUnderTest, Case], Symptoms]] = {
    "attention.scaled_dot_product_attention": of_attention,
    "attention.MultiHeadedAttention": of_heads,
    "layers.LayerNorm": of_norm,
}
