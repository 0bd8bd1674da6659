"""Attention in one sentence pair: its weights at each report of a run, and all matrices of a call.

The matrices (Q, K, V, weights, context) are caught while attention runs. This works with any code for tasks 1.2 and 1.3
in which `MultiHeadedAttention` calls `scaled_dot_product_attention` once, for all heads together.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from .config import ConfigError
from .package import Package

if TYPE_CHECKING:
    from .package import Pair

LEAST_SCORE = -1e30
"""Below it, a score stands for a key that the mask forbids."""


@dataclass
class Watched:
    """A sentence pair, and what the model attended to in it so far.

    The target is fixed, so that the pictures of different times show the same tokens.
    """

    source: list[str]
    target: list[str]
    epochs: list[float] = field(default_factory=list)  # when: 0 = before the first step
    weights: list[dict[str, Tensor]] = field(default_factory=list)  # then: (n_layers, h, q, k) by kind of attention


def find_pair(package: Package, sentence: str, pairs: Iterable[Pair]) -> Watched:
    """Makes the pair to watch from `source|||target`, or from the source of one of `pairs`.

    Raises: ConfigError if there is no target; DataError if a side is too long.
    """
    source, *targets = (side.split() for side in sentence.split(package.data.SEPARATOR))
    target = next(iter(targets or (target for other, target in pairs if other == source)), [])
    if not source or not target:
        where = "is not a source of the training or dev pairs"
        raise ConfigError(f"{sentence!r} {where}: add its translation, as `source|||target`")
    package.data.check_length(repr(sentence), "source", source)
    package.data.check_length(repr(sentence), "target", target)
    return Watched(source, target)


@dataclass
class Matrices:
    """All matrices of one call, (b, h, rows, columns)."""

    query: Tensor  # (b, h, q, d_k)
    key: Tensor  # (b, h, k, d_k)
    value: Tensor  # (b, h, k, d_k)
    scores: Tensor  # (b, h, q, k), of which the softmax is taken; -inf where the mask excludes
    weights: Tensor  # (b, h, q, k)
    context: Tensor  # (b, h, q, d_k)

    def of_head(self, head: int) -> Matrices:
        """Returns the matrices, (rows, columns), of one head of the first sentence."""
        return Matrices(*(matrix[0, head] for matrix in vars(self).values()))


def catch(
    attend: Callable[..., tuple[Tensor, Tensor]], query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Matrices:
    """Calls a `scaled_dot_product_attention` and keeps what goes in and comes out, with the scores on the way.

    Without a softmax of PyTorch's in it, the logarithms of the weights take the place of the scores.
    """
    with Softmaxes() as seen:
        context, weights = attend(query, key, value, mask)
    scores = next((scores for scores in seen.inputs if scores.shape == weights.shape), weights.log())
    return Matrices(query, key, value, scores.masked_fill(scores < LEAST_SCORE, -math.inf), weights, context)


class Softmaxes(TorchFunctionMode):
    """Keeps what every softmax of PyTorch's is computed of, within a block."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Tensor] = []

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Makes the call."""
        if func in (torch.softmax, Tensor.softmax, functional.softmax):
            self.inputs += [argument for argument in args[:1] if isinstance(argument, Tensor)]
        return func(*args, **(kwargs or {}))


@contextmanager
def catching(package: Package) -> Iterator[list[Matrices]]:
    """Within the block, keeps the matrices of each attention that a model computes, in order."""
    module: Any = sys.modules[package.attention.MultiHeadedAttention.__module__]
    attend = module.scaled_dot_product_attention
    caught: list[Matrices] = []

    def attend_and_keep(*arguments: Any, **named: Any) -> tuple[Tensor, Tensor]:
        caught.append(catch(attend, *arguments, **named))
        return caught[-1].context, caught[-1].weights

    module.scaled_dot_product_attention = attend_and_keep
    try:
        yield caught
    finally:
        module.scaled_dot_product_attention = attend
