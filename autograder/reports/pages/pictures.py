"""From numbers to positions in a picture: histograms, BLEU intervals, attention maps, curves; the templates draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foundation.assignment_file import Assignment

from ...classroom.marks import Mark
from ...grading.record import AttentionMap, Curve, Learned, Record
from ...testing.results import State

CELL = 18
"""Units of a picture's width."""
LETTER, LINE = 6.4, 14
"""The width of a letter, and room beside a label."""
FAINT = 0.02
"""Smaller weights get no cell: nobody would see it."""
N_BINS = 20
ALL_OF_IT, LITTLE = 0.95, 0.5
"""Of the points for code, and of those for understanding it: where a conversation is due."""


def histogram(scores: Sequence[float], top: float) -> list[dict[str, float]]:
    """Columns of scores from `low` to below `high`; what is above `top`, by bonus points, counts in the last one."""
    top = top or 1.0
    counts = [0] * N_BINS
    for score in scores:
        counts[min(int(score / top * N_BINS), N_BINS - 1)] += 1
    tallest, width = max([*counts, 1]), top / N_BINS
    return [
        {"low": n * width, "high": (n + 1) * width, "count": count, "percent": 100 * count / tallest}
        for n, count in enumerate(counts)
    ]


def understanding_picture(marks: Mapping[str, Sequence[Mark]], assignment: Assignment) -> dict[str, object]:
    """A dot for each student: the share of the points for code, and of those for understanding it.

    Those are tests and answers that students write about code, and what people mark by hand, where it gives points. A
    student who has tried none of them, or has no mark for one, has no dot. `apart` has those with all of the code and
    little understanding.
    """
    about = {t.number for t in assignment.tasks if t.points and (t.understanding or t.by_hand)}
    code = {t.number for t in assignment.tasks if t.components and not t.extension} - about
    dots: list[tuple[str, float, float]] = []
    for key, one in ((key, one) for key, same in marks.items() for one in same):
        shares = []
        for numbers in (code, about):
            parts = [part for part in one.parts if part.part.number in numbers and part.part.points]
            if numbers is about:
                parts = [
                    part for part in parts if part.score or part.by_hand or part.part.state is not State.NOT_ATTEMPTED
                ]
            of = sum(part.part.points for part in parts)
            known = [part.score for part in parts if part.score is not None]
            shares += [sum(known) / of] if of and len(known) == len(parts) else []
        if len(shares) == 2:
            dots.append((key, shares[0], shares[1]))
    apart = list(dict.fromkeys(key for key, x, y in dots if x >= ALL_OF_IT and y < LITTLE))
    return {"dots": dots, "apart": apart}


def bleu_picture(records: Mapping[str, Record], assignment: Assignment) -> dict[str, object]:
    """BLEU by key, the lowest first, the thresholds, and where the axis of both ends: at a multiple of 0.1."""
    found = {key: record.judgement.bleu for key, record in records.items()}
    known = sorted(((key, bleu) for key, bleu in found.items() if bleu), key=lambda item: item[1].value)
    highest = max([*(bleu.high for _, bleu in known), *assignment.thresholds.values(), 0.0])
    return {"bleu": known, "bleu_top": min(1.0, (int(10 * highest) + 1) / 10), "thresholds": assignment.thresholds}


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


def map_picture(one: AttentionMap) -> dict[str, object]:
    """A map, with its labels beside and above it."""
    left = int(LETTER * max(map(len, one.rows), default=0)) + LINE
    top = int(LETTER * max(map(len, one.columns), default=0)) + LINE
    return {
        "title": one.title,
        "left": left,
        "top": top,
        "width": left + CELL * len(one.columns) + 2,
        "height": top + CELL * len(one.rows) + 2,
        "rows": [(top + CELL * number + CELL // 2, label) for number, label in enumerate(one.rows)],
        "columns": [(left + CELL * number + CELL // 2, label) for number, label in enumerate(one.columns)],
        "cells": [
            {"x": left + CELL * x, "y": top + CELL * y, "weight": weight, "told": f"{row} → {column}: {weight:.2f}"}
            for y, (row, weights) in enumerate(zip(one.rows, one.weights, strict=False))
            for x, (column, weight) in enumerate(zip(one.columns, weights, strict=False))
            if weight >= FAINT
        ],
    }


def curve_picture(one: Curve) -> dict[str, str]:
    """A curve from its lowest to its highest value, in 300 x 120 units; `line` is what a polyline takes."""
    xs, ys = zip(*one.points, strict=True)
    low, high = min(ys), max(ys)
    x_range, y_range = (max(xs) - min(xs)) or 1.0, (high - low) or 1.0
    return {
        "title": one.title,
        "line": " ".join(
            f"{300 * (x - min(xs)) / x_range:.1f},{110 - 100 * (y - low) / y_range:.1f}" for x, y in one.points
        ),
        "first": f"{xs[0]:g}",
        "last": f"{xs[-1]:g}",
        "low": f"{low:.3g}",
        "high": f"{high:.3g}",
        "told": f"{one.title} from {ys[0]:.3g} to {ys[-1]:.3g} in {len(xs)} reports, between {low:.3g} and {high:.3g}",
    }
