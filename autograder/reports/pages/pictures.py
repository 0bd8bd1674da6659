"""From numbers to positions in a picture: histograms, intervals, attention maps, curves; the templates draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...grading.record import AttentionMap, Bleu, Curve, Learned, Record


@dataclass(frozen=True)
class Bin:
    """A column of a histogram.

    Attributes:
        low: the least score in it.
        high: scores are below; the last bin has the highest score too.
        count: scores in it.
        height: 0 to 100, in percent of the tallest column.
    """

    low: float
    high: float
    count: int
    height: float


def histogram(scores: Sequence[float], top: float, n_bins: int = 20) -> list[Bin]:
    """Counts scores between 0 and `top`; higher ones, by bonus points, are in the last bin."""
    top = top or 1.0
    counts = [0] * n_bins
    for score in scores:
        counts[min(int(score / top * n_bins), n_bins - 1)] += 1
    tallest = max([*counts, 1])
    width = top / n_bins
    return [Bin(n * width, (n + 1) * width, count, 100 * count / tallest) for n, count in enumerate(counts)]


@dataclass(frozen=True)
class Interval:
    """One submission's BLEU, with positions between 0 and 100.

    Attributes:
        key: of the submission.
        bleu: as measured.
        left: where the interval begins.
        right: where it ends.
        at: where BLEU is.
    """

    key: str
    bleu: Bleu
    left: float
    right: float
    at: float


def intervals(records: Mapping[str, Record], top: float) -> list[Interval]:
    """All BLEU intervals on a common axis from 0 to `top`, the lowest first."""
    found = []
    for key, record in records.items():
        if bleu := record.judgement.bleu:
            left, at, right = (min(100.0, 100 * value / top) for value in (bleu.low, bleu.value, bleu.high))
            found.append(Interval(key, bleu, left, right, at))
    return sorted(found, key=lambda one: one.at)


def spacing(n_lines: int) -> float:
    """Units between the lines of a picture: at most 6, and less where there are many."""
    return min(6.0, 600 / max(n_lines, 1))


def highest_bleu(records: Mapping[str, Record], thresholds: Mapping[str, float]) -> float:
    """Where the axis of BLEU ends: beyond everything that is drawn, at a multiple of 0.1."""
    values = [record.judgement.bleu.high for record in records.values() if record.judgement.bleu]
    return min(1.0, (int(10 * max([*values, *thresholds.values(), 0.0])) + 1) / 10)


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
