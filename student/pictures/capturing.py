"""What attention computes inside, caught while it runs: nothing here computes it a second time.

This works with any code for tasks 1.2 and 1.3 in which `MultiHeadedAttention` calls `scaled_dot_product_attention`, for
all heads together or one after the other. The scores are what PyTorch's softmax is given; code with a softmax of its
own has none.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from ..attention import MultiHeadedAttention

Attend = Callable[..., tuple[Tensor, Tensor]]

SOFTMAXES = (torch.softmax, torch.nn.functional.softmax, Tensor.softmax, torch.special.softmax)


@dataclass
class Matrices:
    """All matrices of one call, (b, h, rows, columns)."""

    query: Tensor  # (b, h, q, d_k)
    key: Tensor  # (b, h, k, d_k)
    value: Tensor  # (b, h, k, d_k)
    scores: Tensor | None  # (b, h, q, k), with a mask already applied
    weights: Tensor  # (b, h, q, k)
    context: Tensor  # (b, h, q, d_k)

    def of_head(self, head: int) -> "Matrices":
        """Returns the matrices, (rows, columns), of one head of the first sentence."""
        scores = None if self.scores is None else self.scores[0, head]
        query, key, value = self.query[0, head], self.key[0, head], self.value[0, head]
        return Matrices(query, key, value, scores, self.weights[0, head], self.context[0, head])


class SoftmaxInputs(TorchFunctionMode):
    """While it is active, collects the inputs of every softmax."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Tensor] = []

    def __torch_function__(
        self, function: Any, types: Any, arguments: tuple[Any, ...] = (), keywords: dict[str, Any] | None = None
    ) -> Any:
        """Calls the function as it is."""
        keywords = keywords or {}
        if function in SOFTMAXES:
            self.inputs.append(arguments[0] if arguments else keywords["input"])
        return function(*arguments, **keywords)


def catch(attend: Attend, query: Tensor, key: Tensor, value: Tensor, *others: Any, **named: Any) -> Matrices:
    """Calls a `scaled_dot_product_attention` and keeps what goes in, comes out and happens between.

    Args:
        attend: the function.
        query: (b, h, q, d_k).
        key: (b, h, k, d_k).
        value: (b, h, k, d_k).
        others: the mask, and what else the function takes.
        named: likewise.
    """
    with SoftmaxInputs() as softmax:
        context, weights = attend(query, key, value, *others, **named)
    scores = softmax.inputs[-1] if softmax.inputs and softmax.inputs[-1].shape == weights.shape else None
    return Matrices(query, key, value, scores, weights, context)


@contextmanager
def catching() -> Iterator[list[Matrices]]:
    """Within the block, keeps the matrices of each attention that a model computes, in order."""
    module = sys.modules[MultiHeadedAttention.__module__]
    attend: Attend = module.scaled_dot_product_attention
    caught: list[Matrices] = []

    def attend_and_keep(*arguments: Any, **named: Any) -> tuple[Tensor, Tensor]:
        matrices = catch(attend, *arguments, **named)
        caught.append(matrices)
        return matrices.context, matrices.weights

    module.scaled_dot_product_attention = attend_and_keep  # type: ignore[attr-defined]  # a module, not a class
    try:
        yield caught
    finally:
        module.scaled_dot_product_attention = attend  # type: ignore[attr-defined]


def join_heads(caught: list[Matrices], n_attentions: int) -> list[Matrices]:
    """Joins the calls for single heads, (b, rows, columns) or (b, 1, rows, columns), to one for each attention.

    Returns:
        As many as there are attentions, in order; none if the calls cannot be shared out among them.
    """
    n_calls = len(caught) // n_attentions
    if len(caught) != n_calls * n_attentions or any(x.weights.dim() not in (3, 4) for x in caught):
        return []
    groups = [caught[start : start + n_calls] for start in range(0, len(caught), n_calls)] if n_calls else []
    return [Matrices(*(_join([getattr(call, name) for call in group]) for name in vars(group[0]))) for group in groups]


def _join(parts: list[Tensor | None]) -> Any:
    known = [part if part.dim() == 4 else part.unsqueeze(1) for part in parts if part is not None]
    return torch.cat(known, dim=1) if len(known) == len(parts) else None
