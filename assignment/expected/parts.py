"""What LayerNorm, feed-forward network and multi-headed attention compute with their parts, wherever these come from.

Shapes: b batch · h heads · q/k query and key positions · d = d_model.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from assignment.stand_ins.formulas import look_up
from assignment.stand_ins.own_tests import attend as attention
from autograder.testing.fitting import Computation

from .search import Formula

EPSILON = 1e-6  # LayerNorm's default
NormKind = tuple[float, int, bool]
"""Epsilon; how much less than d the variance is divided by; and whether epsilon is added outside the root."""


def norm_of(gain_and_shift: Sequence[Tensor], least: float = 0.0, kind: NormKind = (EPSILON, 0, False)) -> Computation:
    """PyTorch's own layer norm, whose gain may be kept as its difference from 1.

    Task 1.4 judges its kind, and a layer with any such norm of its own may be right.
    """
    (gain, shift), (epsilon, less, is_outside) = gain_and_shift, kind

    def norm(x: Tensor) -> Tensor:
        d = x.size(-1)
        stretch = math.sqrt(d / (d - less))
        inside = 1e-300 if is_outside else epsilon / stretch**2
        centred = F.layer_norm(x, (d,), eps=inside) / stretch
        if is_outside:  # no slope where all features are equal: that is LayerNorm's task
            deviation = stretch * x.var(-1, keepdim=True, correction=0).clamp_min(1e-300).sqrt()
            centred = centred * (deviation / (deviation + epsilon))
        return torch.addcmul(shift, centred, least + gain)

    return norm


KINDS: list[NormKind] = [
    (epsilon, less, is_outside)
    for less, is_outside, epsilon in product((0, 1), (False, True), (EPSILON, 1e-5, 1e-12, 1e-3))
]
"""Norms that a layer of its own may have."""


def network(
    x: Tensor,
    parts: Sequence[Tensor],
    activation: Callable[[Tensor], Tensor] = F.relu,
) -> Tensor:
    """(..., d) -> (..., d), with W_1 and b_1, W_2 and b_2, of which W_1 takes x on its left."""
    first, inner, second, outer = parts
    return F.linear(activation(F.linear(x, first.mT, inner)), second, outer)


def network_formula(d_model: int, d_ff: int) -> Formula:
    """A feed-forward network, as a partial of `network`."""
    shapes = [(d_model, d_ff), (d_ff,), (d_model, d_ff), (d_model,)]
    return Formula(shapes, lambda parts: partial(network, parts=parts), exchangeable=[0])


def heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    matrices: Sequence[Tensor],
    biases: Sequence[Tensor],
    is_stand_in: bool,
    n_heads: int,
) -> tuple[Tensor, Tensor]:
    """Output (b, q, d) and weights (b, h, q, k) of multi-headed attention around a stand-in or a true attention.

    Each head sees all features, of which those of other heads are 0.
    """
    d = len(matrices[0])
    own = torch.eye(n_heads, dtype=query.dtype).repeat_interleave(d // n_heads, dim=1)[:, None]
    maps = zip((query, key, value), matrices, biases, strict=False)
    q, k, v = ((x @ matrix + bias)[:, None] * own for x, matrix, bias in maps)
    if is_stand_in:
        context, weights = look_up(q, k, v, mask)
    else:
        context, weights = attention(q, k, v, mask, scale=(d // n_heads) ** -0.5)
    return context.sum(dim=1) @ matrices[3] + biases[3], weights


BIASES = [*product((1, 0), (1, 0), (1, 0), (1, 2, 0))]
"""Of query, key and value: whether they have one; of the output: 1, or 2 for one of each head, which are added up."""


def attention_formulas(
    d_model: int, n_heads: int, is_stand_in: bool, choices: Iterable[Sequence[int]] = BIASES
) -> list[Formula]:
    """Multi-headed attention with each choice of biases, around the stand-in for attention or a true one."""
    formulas = []
    for *counts, of_output in choices:
        counts += [n_heads if of_output == 2 else of_output]
        shapes = [(d_model, d_model)] * 4 + [(count, d_model) for count in counts if count]
        make = partial(_heads_of, counts=counts, is_stand_in=is_stand_in, n_heads=n_heads)
        # Free are the order of the features of a head, of query and value, and that of biases that are added up.
        exchangeable = [0, 2, *[len(shapes) - 1] * (counts[-1] > 1)]
        formulas.append(Formula(shapes, make, exchangeable))
    return formulas


def _heads_of(parts: Sequence[Tensor], counts: Sequence[int], **settings: Any) -> Computation:
    rest = iter(parts[4:])
    biases = [next(rest).sum(dim=0) if count else parts[0].new_zeros(len(parts[0])) for count in counts]
    return partial(heads, matrices=parts[:4], biases=biases, **settings)
