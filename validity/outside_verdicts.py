"""Verdicts on the rubric items of one component: "" where an item is right, otherwise what differs.

An item that gets none is left to a person. Sizes are such that no axis can be taken for another.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations, product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.sandbox.submission import Sandbox

from .outside_formulas import (
    Reading,
    Tested,
    apart,
    attend,
    first,
    gradients_apart,
    heads,
    layer,
    mask_of,
    network,
    norm,
    normal,
    part,
    readings,
    search,
    side_effects,
)

Verdicts = dict[str, str]
CLOSE = {torch.float64: 1e-7, torch.float32: 2e-4}
"""The largest difference, relative to the largest value; constants are float32 in places."""
OF_NORMS = 1e-4
"""Likewise, where the part that epsilon plays is judged elsewhere."""


def judge_attention(submission: Sandbox) -> Verdicts:
    """Task 1.2."""
    call = partial(submission.call, "attention.scaled_dot_product_attention", isolated=False)

    def draw(q: int = 5, k: int = 6, d: int = 7, dtype: torch.dtype = torch.float64) -> list[Tensor]:
        return [normal(2, 3, q, d, dtype=dtype), normal(2, 3, k, d, dtype=dtype), normal(2, 3, k, d, dtype=dtype)]

    def values(index: int, *given: Any) -> str:
        dtype = given[0].dtype
        wanted = attend(*(one.double() for one in given[:3]), *given[3:])[index]
        return apart(part(call(*given), index), wanted, CLOSE[dtype])

    masks = [
        mask_of(2, 1, 1, 6),
        mask_of(5, 6),
        mask_of(2, 1, 5, 6),
        mask_of(2, 3, 5, 6),
        torch.ones(5, 6).tril() > 0,
        torch.ones(5, 6) > 0,
    ]
    sizes = [draw(), draw(5, 1), draw(1, 1, 3), draw(60, 90, 64), draw(dtype=torch.float32)]
    hidden = mask_of(2, 1, 1, 6)
    far = [
        torch.full((2, 3, 5, 7), 20.0, dtype=torch.float64),
        normal(2, 3, 6, 7) + 100.0 * ~hidden.transpose(-1, -2),
        normal(2, 3, 6, 7),
    ]
    low = [-far[0], normal(2, 3, 6, 7).abs() + 8, far[2]]
    lonely = mask_of(2, 3, 5, 6)
    lonely[0, 0, 0] = False

    def unsafe() -> str:
        given = [one.requires_grad_() for one in draw()]
        result = call(*given, lonely)
        context, weights = part(result, 0), part(result, 1)
        has_keys = lonely.any(-1, keepdim=True)
        wanted = attend(given[0].detach(), given[1].detach(), given[2].detach(), lonely)[0] * has_keys
        if not (torch.is_tensor(context) and torch.isfinite(context).all()):
            return "a query without keys gets values that are not finite"
        if torch.is_tensor(weights) and not torch.isfinite(weights).all():
            return "a query without keys gets weights that are not finite"
        context.sum().backward()
        if not all(one.grad is not None and torch.isfinite(one.grad).all() for one in given):
            return "a query without keys makes gradients not finite"
        big = [60 * one.detach() for one in draw()]
        return apart(context.detach() * has_keys, wanted) or values(0, *big)

    return {
        "scores, scale and softmax": first(values(0, *given) for given in sizes),
        "returned weights": first([values(1, *sizes[0]), values(1, *draw(), masks[2]), values(1, *draw(), masks[0])]),
        "masks": first(
            [*(values(0, *draw(), mask) for mask in masks), values(0, *far, hidden), values(0, *low, hidden)]
        ),
        "numerically safe": unsafe(),
        "gradients": first(gradients_apart(call, [*draw(), mask]) for mask in (None, masks[2])),
        "no side effects": first(side_effects(call, [*draw(), mask], [*draw(), mask]) for mask in (None, masks[2])),
    }


def judge_heads(submission: Sandbox) -> Verdicts:
    """Task 1.3."""
    name, d, h = "attention.MultiHeadedAttention", 12, 4
    tested = Tested(submission, name, d, h)
    maps = tested.parts(d, h).maps

    def draw(q: int = 5, k: int = 6) -> list[Tensor]:
        return [normal(3, q, d), normal(3, k, d), normal(3, k, d)]

    given = draw()
    formula = lambda by: heads(given, maps, h, by)[0]  # noqa: E731
    reading, problem = search(part(tested.call(*given), 0), readings(), formula, CLOSE[torch.float64])

    def values(index: int, *inputs: Any) -> str:
        return problem or apart(part(tested.call(*inputs), index), heads(inputs, maps, h, reading)[index])

    def obeyed(mask: Tensor) -> str:
        """With another formula: forbidden keys change nothing."""
        inputs, hidden = draw(), ~mask.expand(3, 1, 5, 6)[:, 0, 0, :, None]
        others = [inputs[0], *(one + hidden * normal(3, 6, d) for one in inputs[1:])]
        return apart(part(tested.call(*inputs, mask), 0), part(tested.call(*others, mask), 0).detach().double())

    def refuses() -> str:
        for size in (10, 3):
            try:
                submission.build(name, size, h, isolated=False)
            except ValueError:
                continue
            except Exception as error:  # its kind is among the bases
                kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
                return f"{kinds[0]} instead of ValueError"
            return "no error for a d_model that the heads do not divide"
        return ""

    masks = [mask_of(3, 1, 1, 6), mask_of(5, 6), mask_of(3, 1, 5, 6), mask_of(3, h, 5, 6)]
    wrong = (f"mask {tuple(mask.shape)}: {why}" for mask in masks if (why := values(0, *draw(), mask)))
    return {
        "projections and heads": problem or first(values(0, *one) for one in (draw(1, 1), draw(40, 70))),
        "returned weights": first([values(1, *draw()), values(1, *draw(), masks[2])]),
        "masks reach every head": obeyed(masks[0]) if problem else first(wrong),
        "refuses other sizes": refuses(),
        "gradients": gradients_apart(tested.call, [*draw(), masks[2]], tested.learned),
        "no side effects": first(
            side_effects(tested.call, [*draw(), mask], [*draw(), mask]) for mask in (None, masks[2])
        ),
    }


def judge_norm(submission: Sandbox) -> Verdicts:
    """Task 1.4."""
    name, d = "layers.LayerNorm", 7
    tested, x = Tested(submission, name, d, epsilon=1e-6), 100 * normal(3, 5, d)
    new: Any = submission.build(name, d, dtype=torch.float64, isolated=False)
    count = sum(one.numel() for one in tested.learned)
    pairs = [pair for pair in permutations(tested.learned) if len(pair) == 2 and {len(one) for one in pair} <= {1, d}]
    reading, problem = search(tested.call(x), pairs, lambda pair: norm(x, *pair), 1e-6)

    def values(x: Tensor) -> str:
        return problem or apart(tested.call(x), norm(x, *reading), 1e-6)

    def of_epsilon(scale: float, **options: float) -> str:
        fresh: Any = submission.build(name, d, dtype=torch.float64, isolated=False, **options)
        y = scale * normal(4, d)
        return apart(fresh(y), norm(y, epsilon=options.get("epsilon", 1e-6)), 1e-6)

    def constant() -> str:
        y = torch.full((2, d), 3.0, dtype=torch.float64, requires_grad=True)
        new(y).sum().backward()
        return "" if y.grad is not None and y.grad.isfinite().all() else "gradients not finite for equal features"

    stretched = norm(x) * float(new(x).detach().norm() / norm(x).norm())  # another variance costs another item
    return {
        "mean, variance, gain and shift": first(
            values(100 * normal(*shape)) for shape in ((3, 5, d), (d,), (2, 3, 2, d))
        ),
        "epsilon": first([of_epsilon(1.0, epsilon=0.5), of_epsilon(1e-3), of_epsilon(1e-2, epsilon=0.0), constant()]),
        "parameters": f"{count} learned numbers instead of {2 * d}"
        if count != 2 * d
        else apart(new(x), stretched, 1e-4),
        "gradients": gradients_apart(tested.call, [normal(3, d)], tested.learned),
        "no side effects": side_effects(tested.call, [normal(3, d)], [normal(2, 5, d)]),
    }


def judge_network(submission: Sandbox) -> Verdicts:
    """Task 1.5."""
    d, d_ff = 5, 9
    tested, x = Tested(submission, "layers.FeedForward", d, d_ff), normal(3, 4, d)
    hidden = tested.parts(d, 1, d_ff).hidden
    choices = product([torch.relu, F.gelu, F.silu, torch.tanh, F.leaky_relu], (hidden, hidden[::-1]), (False, True))
    reading, problem = search(tested.call(x), choices, lambda by: network(x, by[1], by[0], by[2]), CLOSE[torch.float64])
    biases = sum(bias is not None for _, bias in hidden)
    other = "" if reading is None or reading[0] is torch.relu else f"{reading[0].__name__} instead of relu"
    return {
        "both maps": problem or ("" if biases == 2 else f"{biases} biases instead of 2"),
        "relu between them": problem or other,
        "gradients": gradients_apart(tested.call, [x], tested.learned),
        "no side effects": side_effects(tested.call, [normal(2, 3, d)], [normal(2, 5, d)]),
    }


def judge_embedding(submission: Sandbox) -> Verdicts:
    """Task 1.1."""
    vocabulary, d = 11, 6
    tested, tokens = Tested(submission, "embedding.InputEmbedding", vocabulary, d), torch.randint(1, 11, (3, 5))
    count = sum(one.numel() for one in tested.learned)
    rows = next((one for one in tested.learned if one.shape == (vocabulary, d)), torch.zeros(vocabulary, d))[tokens]
    got = tested.call(tokens)
    factor = float((got / rows).detach().mean()) if torch.is_tensor(got) and got.shape == rows.shape else 1.0
    scale = apart(got, rows * math.sqrt(d))
    looked_up = apart(got, rows * factor)
    return {
        "looked up": looked_up,
        "times sqrt(d_model)": f"times {factor:.3g} instead of sqrt({d})" if scale and not looked_up else scale,
        "one table is learned": f"{count} learned numbers instead of {vocabulary * d}"
        if count != vocabulary * d
        else gradients_apart(tested.call, [tokens], tested.learned),
        "no side effects": side_effects(tested.call, [tokens], [tokens[:, :3]]),
    }


def judge_masks(submission: Sandbox) -> Verdicts:
    """Task 1.6."""
    tokens = torch.tensor([[4, 2, 0, 0], [1, 2, 3, 4], [0, 3, 0, 1]])

    def same(got: Any, wanted: Tensor) -> str:
        if not torch.is_tensor(got) or got.dtype != torch.bool:
            return f"{getattr(got, 'dtype', type(got).__name__)} instead of bool"
        return apart(got, wanted.double())

    def later(n: int) -> str:
        return same(
            submission.call("masks.causal_mask", n, isolated=False), torch.arange(n)[:, None] >= torch.arange(n)
        )

    pads = ((submission.call("masks.padding_mask", tokens, pad, isolated=False), pad) for pad in (0, 2))
    return {
        "padding": first(same(got, (tokens != pad)[:, None, None, :]) for got, pad in pads),
        "later positions": first(map(later, (1, 4, 70))),
    }


def judge_layer(submission: Sandbox, kind: str) -> Verdicts:
    """Tasks 2.1 and 2.2; norms and attention inside are the layer's own."""
    d, h, d_ff, is_decoder = 12, 4, 7, kind == "DecoderLayer"
    tested = Tested(submission, f"layers.{kind}", d, h, d_ff, dropout=0.3)

    def draw(t: int = 5, s: int = 6, masked: bool = True) -> list[Any]:
        masks = [mask_of(3, 1, t, t) if masked else None, mask_of(3, 1, 1, s) if masked else None]
        return [normal(3, t, d), normal(3, s, d), masks[1], masks[0]] if is_decoder else [normal(3, t, d), masks[0]]

    def formula(given: Sequence[Any], by: Reading, of: Tested = tested, kept: float = 1.0) -> list[Tensor]:
        memory, masks = (given[1], given[:1:-1]) if is_decoder else (None, given[1:])
        return layer(given[0], memory, masks, of.parts(d, h, d_ff), h, by, kept)

    given = draw(masked=False)
    choices = readings(2 if is_decoder else 1, 3 if is_decoder else 2)
    reading, problem = search(part(tested.call(*given), 0), choices, lambda by: formula(given, by)[0], OF_NORMS)

    def values(index: int, given: Sequence[Any]) -> str:
        return problem or apart(part(tested.call(*given), index), formula(given, reading)[index], OF_NORMS)

    def drops(rate: float) -> str:
        other, inputs = Tested(submission, f"layers.{kind}", d, h, d_ff, dropout=rate), draw()
        result = part(other.call.train()(*inputs), 0)
        return problem or apart(result, formula(inputs, reading, other, 0.0 if rate else 1.0)[0], 1e-3)

    return {
        "sublayers": first(values(0, one) for one in (draw(), draw(1, 1), draw(40, 50))),
        "returned weights": first(values(index, draw()) for index in range(1, 3 if is_decoder else 2)),
        "dropout": first(map(drops, (0.0, 1 - 1e-9))),
        "gradients": gradients_apart(tested.call, draw(), tested.learned),
        "no side effects": side_effects(tested.call, draw(), draw()),
    }


JUDGES: dict[str, Callable[[Sandbox], Verdicts]] = {
    "1.1": judge_embedding,
    "1.2": judge_attention,
    "1.3": judge_heads,
    "1.4": judge_norm,
    "1.5": judge_network,
    "1.6": judge_masks,
    "2.1": partial(judge_layer, kind="EncoderLayer"),
    "2.2": partial(judge_layer, kind="DecoderLayer"),
}
