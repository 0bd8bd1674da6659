"""Pictures: attention maps of a sentence, curves of a run."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from torch import Tensor

from .files import in_one_piece

FORMATS = (".png", ".svg", ".pdf")


def plot_attention(weights: Tensor, query_tokens: list[str], key_tokens: list[str], title: str) -> Figure:
    """One map a head: rows are queries, columns are keys, dark = high weight.

    Args:
        weights: of one sentence and one layer, (h, q, k).
        query_tokens, key_tokens: q and k labels.
        title: above the whole figure.
    """
    n_heads = weights.size(0)
    columns = min(n_heads, 4)
    rows = -(-n_heads // columns)
    width, height = 1.2 + 0.32 * len(key_tokens), 1.2 + 0.28 * len(query_tokens)
    figure = Figure(figsize=(columns * width + 0.6, rows * height + 0.6), layout="constrained")
    figure.suptitle(title)
    for head, axes in enumerate(figure.subplots(rows, columns, squeeze=False).flat):
        if head >= n_heads:
            axes.axis("off")
            continue
        image = axes.imshow(weights[head].cpu().numpy(), vmin=0.0, vmax=1.0, cmap="Blues")
        axes.set_title(f"head {head + 1}", fontsize=9)
        axes.set_xticks(range(len(key_tokens)), key_tokens, rotation=90, fontsize=8)
        axes.set_yticks(range(len(query_tokens)), query_tokens, fontsize=8)
    figure.colorbar(image, ax=figure.axes, shrink=0.8, label="weight")
    return figure


def plot_history(history: list[dict[str, float]]) -> Figure:
    """Loss and dev BLEU by epoch."""
    epochs = [line["epoch"] for line in history]
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    loss_axes, bleu_axes = figure.subplots(1, 2)
    for name in ("train_loss", "dev_loss"):
        loss_axes.plot(epochs, [line[name] for line in history], marker=".", label=name.replace("_", " "))
    loss_axes.set(xlabel="epoch", ylabel="loss (nats a token)")
    loss_axes.legend()
    bleu_axes.plot(epochs, [line["dev_bleu"] for line in history], marker=".", color="tab:green")
    bleu_axes.set(xlabel="epoch", ylabel="dev BLEU", ylim=(0, 1))
    for axes in (loss_axes, bleu_axes):
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Writes the picture in one piece or not at all; the name's ending, one of FORMATS, is the format."""
    with in_one_piece(path) as unfinished:
        figure.savefig(unfinished, dpi=120)
