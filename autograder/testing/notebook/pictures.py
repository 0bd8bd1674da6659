"""Draws what an answer returned beside what was expected, around the place where they differ most.

Attention weights are drawn under their mask, other values by position and feature. Everything is computed in the
student's own kernel, from inputs that were drawn there.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..observation import fits
from ..results import CheckFailed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#7b7b7b"
"""Of all lettering: readable on light and dark pages, since the picture has no ground of its own."""
WORST = "#e600e6"
"""Of the outline; occurs in none of the scales."""
LONGEST = 24
"""Rows and columns that are drawn of a larger matrix."""
LONGEST_WITH_NUMBERS = 9
CELL = 0.36
"""Inches."""


@dataclass(frozen=True)
class Pair:
    """Two matrices of (rows, columns), cut from what was returned and what was expected.

    Attributes:
        forbidden: cells that the mask forbids; None where there is no mask.
        first: numbers of the first row and column, where the matrix is cut.
        worst: row and column of the greatest difference, within the matrix.
        axes: names of rows and columns.
    """

    what: str
    got: Tensor
    expected: Tensor
    forbidden: Tensor | None
    first: tuple[int, int]
    worst: tuple[int, int]
    axes: tuple[str, str]


def draw_failure(error: CheckFailed) -> bytes | None:
    """A failed comparison as a PNG; None where it was not one of tensors with values by position."""
    pair = None if error.compared is None else cut(str(error).split("\n")[0], *error.compared, error.masks)
    if pair is None:
        return None
    figure = plot(pair)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110, transparent=True)
    return content.getvalue()


def cut(what: str, got: Tensor, expected: Tensor, masks: Sequence[Tensor] = ()) -> Pair | None:
    """The matrix of the last two axes in which the greatest difference is; None for less than two numbers.

    Of the call's masks, those of cross-attention come first.
    """
    if got.numel() < 2:
        return None
    got, expected = got.detach().double(), expected.detach().double()
    is_weights = "weights" in what and got.dim() >= 2
    fitting = [mask for mask in masks if is_weights and fits(mask, got)]
    mask = None if not fitting else fitting[0 if "cross" in what else -1].expand_as(got)
    if got.dim() == 1:
        got, expected = got[None], expected[None]
    error = (got - expected).abs().nan_to_num(nan=torch.inf)  # absolute, like the place that the message names
    *outer, row, column = (int(i) for i in torch.unravel_index(error.argmax(), error.shape))
    place = zip((row, column), got.shape[-2:], strict=True)
    top, left = (max(0, min(at - LONGEST // 2, length - LONGEST)) for at, length in place)
    part: tuple[int | slice, ...] = (*outer, slice(top, top + LONGEST), slice(left, left + LONGEST))
    names = ("sentence", "head")[: len(outer)] if got.dim() <= 4 else ()
    where = ", ".join(f"{name} {i}" for name, i in zip(names, outer, strict=False))
    axes = ("query", "key") if is_weights else ("position", "feature") if outer else ("", "")
    return Pair(
        what.partition(", called with ")[0] + (f" ({where})" if where else ""),
        got[part],
        expected[part],
        None if mask is None else ~mask[part],
        (top, left),
        (row - top, column - left),
        axes,
    )


def plot(pair: Pair) -> Figure:
    """Two heat maps on one scale, that of the expected values."""
    from matplotlib.figure import Figure  # here: it takes a second to load, and most checks pass

    rows, columns = pair.expected.shape
    is_weights = pair.axes[0] == "query"
    highest = 1.0 if is_weights else float(pair.expected.abs().max()) or 1.0
    scale, lowest = ("viridis", 0.0) if is_weights else ("RdBu_r", -highest)
    figure = Figure(figsize=(2 * CELL * max(columns, 5) + 2, CELL * rows + 1.3), layout="constrained")
    figure.suptitle(pair.what, fontsize=10, color=GREY)
    left, right = figure.subplots(1, 2)
    for axes, values, title in ((left, pair.expected, "expected"), (right, pair.got, "your code")):
        image = axes.imshow(values.numpy(), cmap=scale, vmin=lowest, vmax=highest)
        axes.set_title(title, fontsize=10, color=GREY)
        label(axes, pair, rows, columns)
        if max(rows, columns) <= LONGEST_WITH_NUMBERS:
            write_numbers(axes, values, [image.norm(value) for value in values.flatten().tolist()])
    bar = figure.colorbar(image, ax=[left, right], shrink=0.85, extend="both")
    bar.ax.tick_params(labelsize=8, colors=GREY)
    bar.outline.set_edgecolor(GREY)
    of_mask = "" if pair.forbidden is None else "; hatched: forbidden by the mask"
    figure.supxlabel(f"outlined: the greatest difference{of_mask}", fontsize=8, color=GREY)
    return figure


def label(axes: Axes, pair: Pair, rows: int, columns: int) -> None:
    """Names and numbers of rows and columns, the mask, and the place of the greatest difference."""
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_ylabel(pair.axes[0], fontsize=9, color=GREY)
    axes.set_xlabel(pair.axes[1], fontsize=9, color=GREY)
    for axis, first in ((axes.yaxis, pair.first[0]), (axes.xaxis, pair.first[1])):
        axis.set_major_locator(MaxNLocator(8, integer=True))
        axis.set_major_formatter(FuncFormatter(lambda at, _, first=first: f"{int(at) + first}"))
    axes.tick_params(labelsize=8, colors=GREY)
    for spine in axes.spines.values():
        spine.set_edgecolor(GREY)
    forbidden = [] if pair.forbidden is None else pair.forbidden.nonzero().tolist()
    for row, column in forbidden:
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="//", edgecolor=GREY, linewidth=0))
    row, column = pair.worst
    axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=WORST, linewidth=2.5))


def write_numbers(axes: Axes, values: Tensor, shades: Sequence[float]) -> None:
    """Each value in its cell; dark on light colours and light on dark ones."""
    from matplotlib import colormaps

    colours = colormaps[axes.images[0].get_cmap().name]
    n_columns = values.size(1)
    for place, (value, shade) in enumerate(zip(values.flatten().tolist(), shades, strict=True)):
        red, green, blue, _ = colours(min(1.0, max(0.0, float(shade))))
        is_dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
        row, column = divmod(place, n_columns)
        text = f"{value:.2f}" if abs(value) < 10 else f"{value:.3g}"
        axes.text(column, row, text, ha="center", va="center", fontsize=7, color="white" if is_dark else "black")
