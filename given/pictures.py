"""Pictures of what a model does and how it learned: attention maps, curves.

Shapes: h heads · q/k query and key positions. In each map rows are queries, columns are keys, dark = high weight.
matplotlib takes a second to load, so only what draws imports this module.
"""

import io
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.ma import masked, masked_less
from PIL import Image
from torch import Tensor

from foundation.whole_files import in_one_piece

from .drawing import Labels, Matrices, numbered

CELL = 0.3  # inches per weight in a map
LEAST_SCORE = -1e30  # below it, a score stands for a key that the mask forbids
LONGEST_SIDE = 20  # inches; a longer map has smaller cells and letters
DURATION = 500  # milliseconds of a picture in an animation
MOST_NUMBERS = 8  # columns of a matrix in whose cells numbers are written
PANEL = 5.0  # inches of a matrix at most; with few columns they are wide enough for numbers


def save_figure(figure: Figure, path: Path) -> None:
    """Writes the picture whole or not at all; the ending of its name decides on the format."""
    with in_one_piece(path) as unfinished:
        figure.savefig(unfinished, dpi=120)


def plot_page(maps: Sequence[Sequence[Tensor] | Tensor], names: Labels, tokens: Labels, title: str) -> Figure:
    """Draws a table of maps, each (q, k), for example a row per layer and a column per head.

    The names of rows and columns stand on the left and on top; the tokens of queries and keys once per row and column.
    """
    (n_rows, n_columns), (n_queries, n_keys) = map(len, names), map(len, tokens)
    cell = min(0.75 * CELL, LONGEST_SIDE / max(n_columns * n_keys, n_rows * n_queries))
    width, height = cell * n_keys + 0.3, cell * n_queries + 0.3
    figure = Figure(figsize=(n_columns * width + 2.2, n_rows * height + 1.8), layout="constrained")
    figure.suptitle(title)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True)
    for row, all_axes in enumerate(grid):
        for column, axes in enumerate(all_axes):
            draw_map(axes, maps[row][column], tokens, cell)
            if row == 0:
                axes.set_title(names[1][column], fontsize=9)
        all_axes[0].set_ylabel(names[0][row], fontsize=9)
    figure.colorbar(grid[0, 0].images[0], ax=figure.axes, shrink=0.8, aspect=40, label="weight")
    return figure


def draw_map(
    axes: Axes, matrix: Tensor, labels: Labels, cell: float, colours: str = "Blues", with_numbers: bool = False
) -> None:
    """Draws one map, such as weights (q, k), with the labels of its rows and columns; what the mask forbids is grey.

    Blues are for numbers between 0 and 1; other colours have 0 in the middle. `cell`, the inches per number, limits the
    size of the letters.
    """
    rows, columns = labels
    values = masked_less(matrix.detach().float().cpu().numpy(), LEAST_SCORE)
    values.data[values.mask] = 0.0  # the lowest numbers there are would overflow
    limit = 1.0 if colours == "Blues" else max(abs(values).max(), 1e-9)
    colour_map = colormaps[colours].with_extremes(bad="lightgrey")
    axes.imshow(values, cmap=colour_map, vmin=0.0 if colours == "Blues" else -limit, vmax=limit)
    axes.set_xticks(range(len(columns)), columns, rotation=0 if with_numbers else 90)
    axes.set_yticks(range(len(rows)), rows)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(fontsize=min(8, 36 * cell), parse_math=False)  # `$` is an ordinary token
    for row, column in product(range(len(rows)), range(len(columns))) if with_numbers else ():
        if (value := values[row, column]) is not masked:
            text = f"{round(value.item(), 2) + 0:g}".replace("-", "−")
            colour = "white" if abs(value) > 0.6 * limit else "black"
            axes.text(column, row, text, ha="center", va="center", color=colour)


def animate(weights: list[Tensor], times: list[str], tokens: Labels, title: str, path: Path) -> None:
    """Writes an animated GIF with a picture per report: `weights` of one layer, (h, q, k), at each of `times`."""
    names, pictures = ([""], numbered("head", len(weights[0]))), []
    for report, time in zip(weights, times, strict=True):
        figure = plot_page([report], names, tokens, f"{title}: {time}")
        figure.savefig(buffer := io.BytesIO(), dpi=100)
        pictures.append(Image.open(buffer).convert("RGB"))
    first, *others = pictures
    durations = [DURATION] * len(others) + [3 * DURATION]  # the last one stays for a while
    with in_one_piece(path) as unfinished:
        first.save(unfinished, save_all=True, append_images=others, duration=durations, loop=0)


def plot_matrices(matrices: Matrices, query_tokens: list[str], key_tokens: list[str], title: str = "") -> Figure:
    """Draws the matrices of one head, (rows, columns): above what goes in, below what comes of it.

    Blue is positive and red negative; weights are between 0 (white) and 1; what the mask excludes is grey.
    """
    panels = {
        "Q": (matrices.query, ("q", "d_k")),
        "K": (matrices.key, ("k", "d_k")),
        "V": (matrices.value, ("k", "d_k")),
        "scores": (matrices.scores, ("q", "k")),
        "weights": (matrices.weights, ("q", "k")),
        "context": (matrices.context, ("q", "d_k")),
    }
    labels = {"q": query_tokens, "k": key_tokens, "d_k": [str(n + 1) for n in range(matrices.query.size(1))]}
    longest = max(map(len, labels.values()))
    cell = min(0.5, PANEL / longest)
    height = 2 * (cell * max(len(query_tokens), len(key_tokens)) + 1.3)
    figure = Figure(figsize=(3 * (cell * longest + 1.3), height + 0.4), layout="constrained")
    figure.suptitle(title)
    for axes, (name, (matrix, (rows, columns))) in zip(figure.subplots(2, 3).flat, panels.items(), strict=True):
        axes.set_title(f"{name}: ({rows}, {columns}) = {tuple(matrix.shape)}", fontsize=10)
        colours = "Blues" if name == "weights" else "RdBu"
        draw_map(axes, matrix, (labels[rows], labels[columns]), cell, colours, longest <= MOST_NUMBERS)
        figure.colorbar(axes.images[0], ax=axes, shrink=0.8).ax.tick_params(labelsize=7)
        axes.set_ylabel("key" if rows == "k" else "query", fontsize=8)
        axes.set_xlabel("key" if columns == "k" else "feature", fontsize=8)
    return figure


def plot_history(history: list[dict[str, float]], thresholds: dict[str, float]) -> Figure:
    """Draws loss and dev BLEU by epoch, from the lines of `history.jsonl`; thresholds are dashed lines."""
    epochs = [line["epoch"] for line in history]
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    loss_axes, bleu_axes = figure.subplots(1, 2)
    for name in ("train_loss", "dev_loss"):
        loss_axes.plot(epochs, [line[name] for line in history], marker=".", label=name.replace("_", " "))
    loss_axes.set(xlabel="epoch", ylabel="loss (nats per token)")
    loss_axes.legend(loc="upper right")
    bleu_axes.plot(epochs, [line["dev_bleu"] for line in history], marker=".", color="tab:green")
    bleu_axes.set(xlabel="epoch", ylabel="dev BLEU", ylim=(0, 1))
    for name, value in thresholds.items():
        bleu_axes.axhline(value, color="tab:gray", linestyle="--", linewidth=1)
        bleu_axes.text(epochs[0], value + 0.01, f"{name} {value:.2f}", fontsize=8, color="dimgray")
    for axes in (loss_axes, bleu_axes):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    return figure
