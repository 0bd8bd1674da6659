"""The matrices of one attention head in colour: Q, K, V, scores, weights and context, with their shapes."""

from dataclasses import dataclass

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import HashableList
from torch import Tensor

from .capturing import Matrices

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
