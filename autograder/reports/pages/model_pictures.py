"""The model that was handed in, as pictures: attention maps as cells, a training curve as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...grading.record import AttentionMap, Curve, Learned

CELL = 18
"""Units of a picture's width."""
LETTER, LINE = 6.4, 14
"""The width of a letter, and room beside a label."""
FAINT = 0.02
"""Smaller weights get no cell: nobody would see it."""


@dataclass(frozen=True)
class Cell:
    """One weight."""

    x: int
    y: int
    weight: float
    told: str


@dataclass(frozen=True)
class MapPicture:
    """A map with its measures."""

    title: str
    rows: Sequence[tuple[int, str]]
    columns: Sequence[tuple[int, str]]
    cells: Sequence[Cell]
    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class CurvePicture:
    """A curve in a picture of 300 x 120 units; `line` is what a polyline takes."""

    title: str
    line: str
    first: str
    last: str
    low: str
    high: str
    told: str


def map_picture(one: AttentionMap) -> MapPicture:
    """A map, with its labels beside and above it."""
    left = int(LETTER * max(map(len, one.rows), default=0)) + LINE
    top = int(LETTER * max(map(len, one.columns), default=0)) + LINE
    rows = [(top + CELL * number + CELL // 2, label) for number, label in enumerate(one.rows)]
    columns = [(left + CELL * number + CELL // 2, label) for number, label in enumerate(one.columns)]
    cells = [
        Cell(left + CELL * x, top + CELL * y, weight, f"{row} → {column}: {weight:.2f}")
        for y, (row, weights) in enumerate(zip(one.rows, one.weights, strict=False))
        for x, (column, weight) in enumerate(zip(one.columns, weights, strict=False))
        if weight >= FAINT
    ]
    width, height = left + CELL * len(one.columns) + 2, top + CELL * len(one.rows) + 2
    return MapPicture(one.title, rows, columns, cells, left, top, width, height)


def curve_picture(one: Curve) -> CurvePicture:
    """A curve, from its lowest to its highest value."""
    xs, ys = zip(*one.points, strict=True)
    low, high = min(ys), max(ys)
    x_range, y_range = (max(xs) - min(xs)) or 1.0, (high - low) or 1.0
    line = " ".join(f"{300 * (x - min(xs)) / x_range:.1f},{110 - 100 * (y - low) / y_range:.1f}" for x, y in one.points)
    told = f"{one.title} from {ys[0]:.3g} to {ys[-1]:.3g} in {len(xs)} reports, between {low:.3g} and {high:.3g}"
    return CurvePicture(one.title, line, f"{xs[0]:g}", f"{xs[-1]:g}", f"{low:.3g}", f"{high:.3g}", told)


def pictures_of(learned: Learned | None) -> dict[str, object]:
    """What the template shows of the model; nothing where none was handed in."""
    maps = learned.maps if learned else ()
    curves = [curve for curve in learned.curves if len(curve.points) > 1] if learned else []
    return {
        "learned": learned,
        "sentence": [" ".join(maps[0].columns), " ".join(maps[0].rows)] if maps else [],
        "maps": [map_picture(one) for one in maps],
        "curves": [curve_picture(one) for one in curves],
    }
