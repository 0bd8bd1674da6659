"""Cross-attention beside gold alignments: the error rate of each head, and the map of one sentence."""

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from .attention_maps import CELL, LONGEST_SIDE, draw_map

GOLD = "tab:orange"


def plot_alignments(
    error_rates: list[list[float]],
    weights: Tensor,
    links: set[tuple[int, int]],
    source: list[str],
    target: list[str],
    title: str,
) -> Figure:
    """Draws a table of error rates, and a map on which the gold links are outlined.

    Args:
        error_rates: AER by layer and head; the last column is the mean of the heads.
        weights: of one sentence and one head, (target tokens, source tokens).
        links: gold links of the sentence, (source, target).
        source: its tokens.
        target: its tokens.
        title: says which head the map shows.
    """
    n_layers, n_columns = len(error_rates), len(error_rates[0])
    cell = min(1.2 * CELL, LONGEST_SIDE / max(len(source), len(target)))
    sizes = [0.75 * n_columns + 0.8, cell * len(source) + 1.2]
    height = max(0.6 * n_layers + 1.5, cell * len(target) + 2.4, 3.2)
    figure = Figure(figsize=(sum(sizes) + 1, height), layout="constrained")
    table, map_axes = figure.subplots(1, 2, width_ratios=sizes)
    table.imshow(error_rates, vmin=0, vmax=1, cmap="Greens_r")
    for layer, rates in enumerate(error_rates):
        for head, rate in enumerate(rates):
            table.text(head, layer, f"{rate:.2f}", ha="center", va="center", color="white" if rate < 0.5 else "black")
    table.set_xticks(range(n_columns), [*(str(head + 1) for head in range(n_columns - 1)), "mean"])
    table.set_yticks(range(n_layers), [str(layer + 1) for layer in range(n_layers)])
    table.set(xlabel="head", ylabel="layer", title="alignment error rate")
    draw_map(map_axes, weights, target, source, cell)
    for source_place, target_place in links:
        map_axes.add_patch(
            Rectangle((source_place - 0.44, target_place - 0.44), 0.88, 0.88, fill=False, edgecolor=GOLD, linewidth=2)
        )
    map_axes.set(title=title, xlabel="source; gold links are outlined", ylabel="target")
    return figure
