"""From numbers to positions in a picture, in percent of its width; the templates draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...grading.record import Bleu, Record


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
