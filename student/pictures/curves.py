"""The curves of a run: loss and dev BLEU by epoch, with the BLEU that earns points."""

import matplotlib
from matplotlib.figure import Figure


def plot_history(history: list[dict[str, float]], thresholds: dict[str, float] | None = None) -> Figure:
    """Draws loss and dev BLEU by epoch.

    Args:
        history: a line for each report, as in a run's `history.jsonl`.
        thresholds: BLEU between 0 and 1 by name; each is a dashed line.
    """
    epochs = [line["epoch"] for line in history]
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    loss_axes, bleu_axes = figure.subplots(1, 2)
    for name in ("train_loss", "dev_loss"):
        loss_axes.plot(epochs, [line[name] for line in history], marker=".", label=name.replace("_", " "))
    loss_axes.set(xlabel="epoch", ylabel="loss (nats per token)")
    loss_axes.legend(loc="upper right")
    bleu_axes.plot(epochs, [line["dev_bleu"] for line in history], marker=".", color="tab:green")
    bleu_axes.set(xlabel="epoch", ylabel="dev BLEU", ylim=(0, 1))
    for name, value in (thresholds or {}).items():
        bleu_axes.axhline(value, color="tab:gray", linestyle="--", linewidth=1)
        place = {"xy": (1, value), "xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        bleu_axes.annotate(f"{name} {value:.2f}", xytext=(-4, 3), ha="right", fontsize=8, color="dimgray", **place)
    for axes in (loss_axes, bleu_axes):
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    return figure
