"""The matrices of one attention head in colour: Q, K, V, scores, weights and context, with their shapes.

They are caught while attention runs: nothing here computes it a second time. This works with any code for tasks 1.2 and
1.3 in which `MultiHeadedAttention` calls `scaled_dot_product_attention`, for all heads together or one after the other.
The scores are what PyTorch's softmax is given; code with a softmax of its own has none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import HashableList
from torch import Tensor
from torch.overrides import TorchFunctionMode

from . import package

Attend = Callable[..., tuple[Tensor, Tensor]]

SOFTMAXES = (torch.softmax, torch.nn.functional.softmax, Tensor.softmax, torch.special.softmax)
FORBIDDEN = -1e4  # scores below are those that the mask excludes
MOST_NUMBERS = 8  # columns of a matrix in whose cells numbers are written
CELL, SMALL_CELL = 0.5, 0.22  # inches, with and without numbers


@dataclass
class Matrices:
    """All matrices of one call, (b, h, rows, columns)."""

    query: Tensor  # (b, h, q, d_k)
    key: Tensor  # (b, h, k, d_k)
    value: Tensor  # (b, h, k, d_k)
    scores: Tensor | None  # (b, h, q, k), with a mask already applied
    weights: Tensor  # (b, h, q, k)
    context: Tensor  # (b, h, q, d_k)

    def of_head(self, head: int) -> Matrices:
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
    """Calls a `scaled_dot_product_attention` and keeps what goes in, comes out and happens between."""
    with SoftmaxInputs() as softmax:
        context, weights = attend(query, key, value, *others, **named)
    scores = softmax.inputs[-1] if softmax.inputs and softmax.inputs[-1].shape == weights.shape else None
    return Matrices(query, key, value, scores, weights, context)


@contextmanager
def catching() -> Iterator[list[Matrices]]:
    """Within the block, keeps the matrices of each attention that a model computes, in order."""
    module = sys.modules[package.attention.MultiHeadedAttention.__module__]
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

    The result is empty if the calls cannot be shared out among them.
    """
    n_calls = len(caught) // n_attentions
    if len(caught) != n_calls * n_attentions or any(x.weights.dim() not in (3, 4) for x in caught):
        return []
    groups = [caught[start : start + n_calls] for start in range(0, len(caught), n_calls)] if n_calls else []
    return [Matrices(*(_join([getattr(call, name) for call in group]) for name in vars(group[0]))) for group in groups]


def _join(parts: list[Tensor | None]) -> Any:
    known = [part if part.dim() == 4 else part.unsqueeze(1) for part in parts if part is not None]
    return torch.cat(known, dim=1) if len(known) == len(parts) else None


def plot_matrices(matrices: Matrices, query_tokens: list[str], key_tokens: list[str], title: str = "") -> Figure:
    """Draws the matrices of one head, (rows, columns): above what goes in, below what comes of it.

    Blue is positive and red negative; weights are between 0 (white) and 1; what the mask excludes is grey.
    """
    labels = {"q": query_tokens, "k": key_tokens, "d_k": [str(n + 1) for n in range(matrices.query.size(1))]}
    panels = {
        "Q": (matrices.query, ("q", "d_k")),
        "K": (matrices.key, ("k", "d_k")),
        "V": (matrices.value, ("k", "d_k")),
        "scores": (matrices.scores, ("q", "k")),
        "weights": (matrices.weights, ("q", "k")),
        "context": (matrices.context, ("q", "d_k")),
    }
    n_queries, n_keys, n_features = (len(labels[axis]) for axis in ("q", "k", "d_k"))
    places: list[HashableList[str]]
    if is_small := max(n_features, n_queries, n_keys) <= MOST_NUMBERS:
        places = [["Q", "K", "V"], ["scores", "weights", "context"]]
        width, height = 3 * (CELL * max(n_features, n_keys) + 1.3), 2 * (CELL * max(n_queries, n_keys) + 1.2)
        ratios = [1.0, 1.0, 1.0]
    else:
        places = [["Q", "scores"], ["K", "scores"], ["V", "weights"], ["context", "weights"]]
        ratios = [SMALL_CELL * n_features + 1, SMALL_CELL * n_keys * 1.4 + 1]
        width, height = sum(ratios), 4 * (SMALL_CELL * max(n_queries, n_keys) + 0.9)
    figure = Figure(figsize=(width, height + 0.4), layout="constrained")
    figure.suptitle(title)
    all_axes = figure.subplot_mosaic(places, width_ratios=ratios)
    for name, (matrix, shape) in panels.items():
        axes = all_axes[name]
        if matrix is None:
            axes.set_title(f"{name}: not known")
            axes.axis("off")
            continue
        axes.set_title(f"{name}: ({', '.join(shape)}) = {tuple(matrix.shape)}", fontsize=10)
        draw_matrix(axes, matrix, "Blues" if name == "weights" else "RdBu", with_numbers=is_small)
        axes.set_ylabel("key" if shape[0] == "k" else "query", fontsize=8)
        axes.set_xlabel("key" if shape[1] == "k" else "feature", fontsize=8)
        step = 1 if is_small or shape[1] == "k" else 4
        axes.set_xticks(range(0, matrix.size(1), step), labels[shape[1]][::step])
        axes.set_yticks(range(matrix.size(0)), labels[shape[0]])
        for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
            label.set(fontsize=8, parse_math=False)  # `$` is an ordinary token
        if shape[1] == "k":
            axes.tick_params(axis="x", rotation=0 if is_small else 90)
    return figure


def draw_matrix(axes: Axes, matrix: Tensor, colours: str, with_numbers: bool) -> None:
    """Draws the numbers of one matrix as colours, and where there is room as numbers, too."""
    values = matrix.detach().float().cpu()
    excluded = values < FORBIDDEN
    limit = max(values[~excluded].abs().max().item(), 1e-9) if (~excluded).any() else 1.0
    lowest, highest = (0.0, 1.0) if colours == "Blues" else (-limit, limit)
    shown = values.masked_fill(excluded, float("nan")).numpy()
    axes.imshow(shown, cmap=colormaps[colours].with_extremes(bad="lightgrey"), vmin=lowest, vmax=highest)
    if with_numbers:
        for row, column in (~excluded).nonzero().tolist():
            value = values[row, column].item()
            text = f"{round(value, 2) + 0:g}".replace("-", "−")
            colour = "white" if abs(value) > 0.6 * highest else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour)
