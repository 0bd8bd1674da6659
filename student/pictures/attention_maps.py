"""Attention maps: where each token of a sentence looks, a picture per head."""

from matplotlib.figure import Figure
from torch import Tensor

CELL = 0.3  # inches per weight in an attention map
LONGEST_SIDE = 20  # inches; a longer map has smaller cells and letters


def plot_attention(weights: Tensor, query_tokens: list[str], key_tokens: list[str], title: str) -> Figure:
    """Draws one map per head: rows are queries, columns are keys, dark = high weight.

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
    labels = {"fontsize": 8 * cell / CELL, "parse_math": False}  # `$` is an ordinary token
    figure = Figure(figsize=(columns * width + 0.6, rows * height + 0.6), layout="constrained")
    figure.suptitle(title)
    for head, axes in enumerate(figure.subplots(rows, columns, squeeze=False).flat):
        if head >= n_heads:
            axes.axis("off")
            continue
        image = axes.imshow(weights[head].cpu().numpy(), vmin=0.0, vmax=1.0, cmap="Blues")
        axes.set_title(f"head {head + 1}", fontsize=9)
        axes.set_xticks(range(len(key_tokens)), key_tokens, rotation=90, **labels)
        axes.set_yticks(range(len(query_tokens)), query_tokens, **labels)
        axes.set_xlabel("is attended to", fontsize=8)
        axes.set_ylabel("attends", fontsize=8)
    figure.colorbar(image, ax=figure.axes, shrink=0.8, aspect=40, label="weight")
    return figure
