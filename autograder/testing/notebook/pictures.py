"""Draws what an answer returned beside what was expected: the matrix in which they differ most.

Everything is computed in the student's own kernel, from inputs that were drawn there.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..observation import fits
from ..results import CheckFailed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORST = "#e600e6"
"""Of the outline; occurs in none of the scales."""
CELL = 0.36
"""Inches."""
LARGEST = 8.0
"""Inches of a matrix of any size."""


def draw_failure(error: CheckFailed) -> bytes | None:
    """A failed comparison as a PNG; None where it was not one of tensors with at least two numbers."""
    if error.compared is None or error.compared[0].numel() < 2:
        return None
    got, expected = (torch.atleast_2d(one.detach().double()) for one in error.compared)
    *outer, row, column = worst_place(got, expected)
    what = str(error).split("\n")[0].partition(", called with ")[0]
    is_weights = "weights" in what
    mask = mask_of(got, error.masks, is_cross="cross" in what) if is_weights else None
    part = tuple(outer)
    title = f"{what} {outer}" if outer else what
    forbidden = [] if mask is None else (~mask[part]).nonzero().tolist()
    return plot(title, expected[part], got[part], (row, column), forbidden, is_weights)


def worst_place(got: Tensor, expected: Tensor) -> tuple[int, ...]:
    """Where the greatest difference is: absolute, like the place that the message names."""
    error = (got - expected).abs().nan_to_num(nan=torch.inf)
    return tuple(int(i) for i in torch.unravel_index(error.argmax(), error.shape))


def mask_of(weights: Tensor, masks: Sequence[Tensor], is_cross: bool) -> Tensor | None:
    """Of the call's masks the one of these weights, in their shape; those of cross-attention come first."""
    fitting = [mask for mask in masks if fits(mask, weights)]
    return fitting[0 if is_cross else -1].expand_as(weights) if fitting else None


def plot(
    title: str,
    expected: Tensor,
    got: Tensor,
    worst: tuple[int, int],
    forbidden: Sequence[tuple[int, int]],
    is_weights: bool,
) -> bytes:
    """Two heat maps on one scale, that of the expected values."""
    from matplotlib.figure import Figure  # here: it takes a second to load, and most checks pass

    height, width = (min(CELL * max(length, 5), LARGEST) for length in expected.shape)
    figure = Figure(figsize=(2 * width + 2, height + 1.3), layout="constrained")
    figure.suptitle(title, fontsize=10)
    highest = 1.0 if is_weights else float(expected.abs().max()) or 1.0
    scale, lowest = ("viridis", 0.0) if is_weights else ("RdBu_r", -highest)
    both = figure.subplots(1, 2)
    for axes, values, name in zip(both, (expected, got), ("expected", "your code"), strict=True):
        image = axes.imshow(values.numpy(), cmap=scale, vmin=lowest, vmax=highest)
        axes.set_title(name, fontsize=10)
        axes.set_ylabel("query" if is_weights else "row")
        axes.set_xlabel("key" if is_weights else "column")
        axes.locator_params(integer=True)
        for cell in forbidden:
            outline(axes, cell, hatch="//", edgecolor="grey", linewidth=0)
        outline(axes, worst, edgecolor=WORST, linewidth=2.5)
    figure.colorbar(image, ax=both, shrink=0.85, extend="both")
    hatched = "; hatched: forbidden by the mask" if forbidden else ""
    figure.supxlabel(f"outlined: the greatest difference{hatched}", fontsize=8)
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return content.getvalue()


def outline(axes: Axes, cell: tuple[int, int], **style: Any) -> None:
    """Draws a frame around a cell, or hatches it."""
    from matplotlib.patches import Rectangle

    row, column = cell
    axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, **style))
