"""From numbers to positions in a picture: histograms, BLEU intervals; the templates draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foundation.assignment_file import Assignment

from ...classroom.marks import Mark
from ...grading.record import Record
from ...testing.results import State

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
