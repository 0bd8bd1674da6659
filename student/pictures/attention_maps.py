"""Attention maps: where each token of a sentence looks, a picture per head.

Shapes: h heads · q/k query and key positions. In each map rows are queries, columns are keys, dark = high weight.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from torch import Tensor

CELL = 0.3  # inches per weight in a map
LONGEST_SIDE = 20  # inches; a longer map has smaller cells and letters


def plot_attention(weights: Tensor, query_tokens: list[str], key_tokens: list[str], title: str) -> Figure:
    """Draws one map per head, as large as a screen allows.

    Args:
        weights: those of one sentence and one layer, (h, q, k).
        query_tokens: q labels.
        key_tokens: k labels.
        title: of the whole figure.
    """
    n_heads = weights.size(0)
    cell = min(CELL, LONGEST_SIDE / max(len(query_tokens), len(key_tokens)))
    width, height = 1.5 + cell * len(key_tokens), 1.5 + cell * len(query_tokens)
    columns = min(range(1, n_heads + 1), key=lambda columns: max(columns * width, -(-n_heads // columns) * height))
    rows = -(-n_heads // columns)
    figure = Figure(figsize=(columns * width + 0.6, rows * height + 0.6), layout="constrained")
    figure.suptitle(title)
    for head, axes in enumerate(figure.subplots(rows, columns, squeeze=False).flat):
        if head >= n_heads:
            axes.axis("off")
            continue
        image = draw_map(axes, weights[head], query_tokens, key_tokens, cell)
        axes.set_title(f"head {head + 1}", fontsize=9)
        axes.set_xlabel("is attended to", fontsize=8)
        axes.set_ylabel("attends", fontsize=8)
    figure.colorbar(image, ax=figure.axes, shrink=0.8, aspect=40, label="weight")
    return figure


def plot_page(
    maps: Sequence[Sequence[Tensor]],
    row_names: list[str],
    column_names: list[str],
    query_tokens: list[str],
    key_tokens: list[str],
    title: str,
) -> Figure:
    """Draws many small maps on one page, for example a row per layer and a column per head.

    Args:
        maps: by row and column, each (q, k).
        row_names: stand on the left.
        column_names: stand on top.
        query_tokens: q labels, once per row.
        key_tokens: k labels, once per column.
        title: of the whole page.
    """
    n_rows, n_columns = len(row_names), len(column_names)
    cell = min(0.75 * CELL, LONGEST_SIDE / max(n_columns * len(key_tokens), n_rows * len(query_tokens)))
    width, height = cell * len(key_tokens) + 0.3, cell * len(query_tokens) + 0.3
    figure = Figure(figsize=(n_columns * width + 2.2, n_rows * height + 1.8), layout="constrained")
    figure.suptitle(title)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True)
    for row, all_axes in enumerate(grid):
        for column, axes in enumerate(all_axes):
            image = draw_map(axes, maps[row][column], query_tokens, key_tokens, cell)
            if row == 0:
                axes.set_title(column_names[column], fontsize=9)
        all_axes[0].set_ylabel(row_names[row], fontsize=9)
    figure.colorbar(image, ax=figure.axes, shrink=0.8, aspect=40, label="weight")
    return figure


def draw_map(axes: Axes, weights: Tensor, query_tokens: list[str], key_tokens: list[str], cell: float) -> AxesImage:
    """Draws one map.

    Args:
        axes: to draw into.
        weights: (q, k).
        query_tokens: q labels.
        key_tokens: k labels.
        cell: inches per weight, which limits the size of the letters.
    """
    image = axes.imshow(weights.float().cpu().numpy(), vmin=0.0, vmax=1.0, cmap="Blues")
    axes.set_xticks(range(len(key_tokens)), key_tokens, rotation=90)
    axes.set_yticks(range(len(query_tokens)), query_tokens)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(fontsize=min(8, 36 * cell), parse_math=False)  # `$` is an ordinary token
    return image
