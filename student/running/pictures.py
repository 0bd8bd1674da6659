"""Pictures: the attention maps of a sentence, the curves of a run."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from torch import Tensor

from .whole_files import in_one_piece

FORMATS = (".png", ".svg", ".pdf")
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


def plot_history(history: list[dict[str, float]]) -> Figure:
    """Draws loss and dev BLEU by epoch."""
    epochs = [line["epoch"] for line in history]
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    loss_axes, bleu_axes = figure.subplots(1, 2)
    for name in ("train_loss", "dev_loss"):
        loss_axes.plot(epochs, [line[name] for line in history], marker=".", label=name.replace("_", " "))
    loss_axes.set(xlabel="epoch", ylabel="loss (nats per token)")
    loss_axes.legend()
    bleu_axes.plot(epochs, [line["dev_bleu"] for line in history], marker=".", color="tab:green")
    bleu_axes.set(xlabel="epoch", ylabel="dev BLEU", ylim=(0, 1))
    for axes in (loss_axes, bleu_axes):
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Writes the picture whole or not at all; the ending of its name, one of FORMATS, decides on the format."""
    with in_one_piece(path) as unfinished:
        figure.savefig(unfinished, dpi=120)
