"""The curves of a run: loss and dev BLEU by epoch."""

import matplotlib
from matplotlib.figure import Figure


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
