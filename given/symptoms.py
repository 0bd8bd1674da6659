"""`hunt`: a student's bug hunts, and pictures of what a trained model with each mistake does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from foundation.assignment_file import read_assignment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Shown = Mapping[str, Any]
"""What was measured of one trained model."""


def show(name: str, folder: Path = Path()) -> list[Path]:
    """Prints a student's hunts, and draws the symptoms that were measured; returns the pictures.

    Raises: UserError without a name.
    """
    from autograder.testing.hunts import read_hunts, tell  # the tests take a moment to load

    from .pictures import save_figure

    assignment = read_assignment()
    print(tell(name, assignment), end="\n\n")
    pictures = []
    for hunt in read_hunts(assignment.folder).of(name):
        if hunt.shown:
            path = folder / f"hunt_{hunt.number}.png"
            save_figure(plot(hunt.shown, f"hunt {hunt.number}"), path)
            pictures.append(path)
            print(f"{path}: what a model with the mistake of hunt {hunt.number} does, beside one without it")
    return pictures


def plot(shown: Sequence[Shown], title: str) -> Figure:
    """Draws both models: their loss, and where the words of one sentence look in its source, which has padding."""
    from matplotlib.figure import Figure

    from .pictures import CELL, draw_map

    figure = Figure(figsize=(11, 3.6), layout="constrained")
    figure.suptitle(title)
    loss_axes, *all_axes = figure.subplots(1, 3, width_ratios=(4, 3, 3))
    names, styles = ("with the mistake", "without it"), ({"color": "tab:red"}, {"color": "black", "linestyle": ":"})
    for one, name, style in zip(shown, names, styles, strict=True):
        batches = [one["every"] * (place + 1) for place in range(len(one["loss"]))]
        loss_axes.plot(batches, finite(one["loss"]), label=name, **style)
    loss_axes.set(xlabel="batch", ylabel="loss in training", ylim=(0, 8))
    loss_axes.grid(alpha=0.3)
    loss_axes.legend(loc="upper right")
    for axes, one, name in zip(all_axes, shown, names, strict=True):
        targets, sources = one["tokens"]
        draw_map(axes, torch.tensor([finite(row) for row in one["attention"]]), targets, sources, CELL)
        axes.set_title(f"cross-attention {name}", fontsize=9)
        axes.set_xlabel("source, below a longer one in the batch", fontsize=8)
    return figure


def finite(numbers: Sequence[float | None]) -> list[float]:
    """The numbers; nothing is drawn of those that were not finite."""
    return [float("nan") if number is None else number for number in numbers]
