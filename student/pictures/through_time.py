"""Attention through training time: a page of maps, and an animation."""

from pathlib import Path

from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from torch import Tensor

from ..whole_files import in_one_piece
from .attention_maps import plot_attention, plot_page

MOST_COLUMNS = 12  # maps side by side; of more reports, evenly spaced ones are drawn
PICTURES_A_SECOND = 2


def plot_through_time(
    weights: list[Tensor], times: list[str], query_tokens: list[str], key_tokens: list[str], title: str
) -> Figure:
    """Draws a row of maps per head, from the first report to the last.

    Args:
        weights: those of one layer at each report, (h, q, k).
        times: a name for each report.
        query_tokens: q labels.
        key_tokens: k labels.
        title: of the whole figure.
    """
    shown = choose_evenly(len(weights), MOST_COLUMNS)
    n_heads = weights[0].size(0)
    maps = [[weights[report][head] for report in shown] for head in range(n_heads)]
    heads = [f"head {head + 1}" for head in range(n_heads)]
    return plot_page(maps, heads, [times[report] for report in shown], query_tokens, key_tokens, title)


def animate(
    weights: list[Tensor], times: list[str], query_tokens: list[str], key_tokens: list[str], title: str, path: Path
) -> None:
    """Writes an animated GIF with a picture per report; arguments as for `plot_through_time`."""
    figure = plot_attention(weights[0], query_tokens, key_tokens, f"{title}: {times[0]}")
    for _ in range(3):  # the layout settles
        figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the places of the first picture hold for all
    images = [axes.images[0] for axes in figure.axes[: weights[0].size(0)]]

    def show(report: int) -> list[Artist]:
        for head, image in enumerate(images):
            image.set_data(weights[report][head].float().numpy())
        figure.suptitle(f"{title}: {times[report]}")
        return []

    frames = [*range(len(weights)), len(weights) - 1, len(weights) - 1]  # the last one stays for a while
    with in_one_piece(path) as unfinished:
        writer = PillowWriter(fps=PICTURES_A_SECOND)
        FuncAnimation(figure, show, frames=frames, cache_frame_data=False).save(unfinished, writer=writer)


def choose_evenly(count: int, most: int) -> list[int]:
    """Returns at most `most` of `count` indices, evenly spaced, with the first and the last."""
    if count <= most:
        return list(range(count))
    return [round(number * (count - 1) / (most - 1)) for number in range(most)]
