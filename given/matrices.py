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


FORBIDDEN = -1e4  # scores below are those that the mask excludes
MOST_NUMBERS = 8  # columns of a matrix in whose cells numbers are written
CELL, SMALL_CELL = 0.5, 0.22  # inches, with and without numbers


@dataclass(frozen=True)
class Panel:
    """How a matrix is drawn."""

    name: str
    shape: str
    matrix: Tensor | None
    rows: list[str]
    columns: list[str]
    across: str
    colours: str = "RdBu"


def plot_matrices(matrices: Matrices, query_tokens: list[str], key_tokens: list[str], title: str = "") -> Figure:
    """Draws the matrices of one head: above what goes in, below what comes of it.

    Blue is positive and red negative; weights are between 0 (white) and 1; what the mask excludes is grey.

    Args:
        matrices: of one head, (rows, columns).
        query_tokens: labels of the queries.
        key_tokens: labels of the keys and values.
        title: of the whole figure.
    """
    features = [str(number + 1) for number in range(matrices.query.size(1))]
    panels = [
        Panel("Q", "(q, d_k)", matrices.query, query_tokens, features, "feature"),
        Panel("K", "(k, d_k)", matrices.key, key_tokens, features, "feature"),
        Panel("V", "(k, d_k)", matrices.value, key_tokens, features, "feature"),
        Panel("scores", "(q, k)", matrices.scores, query_tokens, key_tokens, "key"),
        Panel("weights", "(q, k)", matrices.weights, query_tokens, key_tokens, "key", "Blues"),
        Panel("context", "(q, d_k)", matrices.context, query_tokens, features, "feature"),
    ]
    n_features, n_queries, n_keys = len(features), len(query_tokens), len(key_tokens)
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
    axes = figure.subplot_mosaic(places, width_ratios=ratios)
    for panel in panels:
        draw_panel(axes[panel.name], panel, with_numbers=is_small)
    return figure


def draw_panel(axes: Axes, panel: Panel, with_numbers: bool) -> None:
    """Draws one matrix with its name and shape."""
    if panel.matrix is None:
        axes.set_title(f"{panel.name}: not known")
        axes.axis("off")
        return
    values = panel.matrix.detach().float().cpu()
    excluded = values < FORBIDDEN
    limit = max(values[~excluded].abs().max().item(), 1e-9) if (~excluded).any() else 1.0
    lowest, highest = (0.0, 1.0) if panel.colours == "Blues" else (-limit, limit)
    colours = colormaps[panel.colours].with_extremes(bad="lightgrey")
    axes.imshow(values.masked_fill(excluded, float("nan")).numpy(), cmap=colours, vmin=lowest, vmax=highest)
    axes.set_title(f"{panel.name}: {panel.shape} = {tuple(values.shape)}", fontsize=10)
    axes.set_xlabel(panel.across, fontsize=8)
    axes.set_ylabel("key" if panel.shape.startswith("(k") else "query", fontsize=8)
    step = 1 if with_numbers or panel.across == "key" else 4
    axes.set_xticks(range(0, len(panel.columns), step), panel.columns[::step])
    axes.set_yticks(range(len(panel.rows)), panel.rows)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(fontsize=8, parse_math=False)  # `$` is an ordinary token
    if panel.across == "key":
        axes.tick_params(axis="x", rotation=0 if with_numbers else 90)
    if with_numbers:
        for row, line in enumerate(values.tolist()):
            for column, value in enumerate(line):
                if not excluded[row, column]:
                    is_dark = abs(value) > 0.6 * highest
                    text = f"{round(value, 2) + 0:g}".replace("-", "−")
                    axes.text(column, row, text, ha="center", va="center", color="white" if is_dark else "black")
