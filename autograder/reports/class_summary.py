"""The records of a class for people and programs: a table of one screen, summary.csv, summary.json, a histogram."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, median
from typing import TypedDict

from foundation.printable_text import printable

from ..grading.record import Record, write_json, write_result
from ..grading.states import State
from .terminal import containment_of

Cell = str | float | None

MOST_NAMES = 8
FORMULA = re.compile(r"""((?:^|[,;:|\t\r\n"'])[\s"']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])""")
"""The place before what a spreadsheet would compute: at the beginning, or after what may separate cells."""


class PartSummary(TypedDict):
    """One part over the whole class: the mean of its points, and how many submissions are in which state."""

    number: str
    title: str
    points: float
    extension: bool
    mean: float
    states: dict[str, int]


def rows_of(records: Mapping[str, Record]) -> list[dict[str, Cell]]:
    """One flat row per submission: name, file, score, BLEU, and points and state of each part."""
    rows = []
    for file, record in records.items():
        judgement = record.judgement
        name = " ".join(record.submission.split())  # one line, as every row of a table should be
        row: dict[str, Cell] = {"submission": name, "file": printable(file), "score": judgement.score}
        row |= {"max_score": judgement.max_score, "bleu": judgement.bleu.value if judgement.bleu else None}
        row |= {part.number: part.score for part in judgement.parts}
        row |= {f"{part.number} state": part.state.value for part in judgement.parts}
        row |= {"sandbox": containment_of(record.run), "content_hash": judgement.content_hash}
        row |= {"grader_version": judgement.grader_version}
        rows.append(row)
    return rows


def write_summary(records: Mapping[str, Record], output: Path) -> None:
    """Writes summary.csv, summary.json and histogram.png, each in one piece."""
    rows = rows_of(records)
    write_json(output / "summary.json", {"parts": parts_of(records), "submissions": rows})
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in row.items()} for row in rows)
    write_result(output / "summary.csv", text.getvalue())
    write_result(output / "histogram.png", histogram(records))


def harmless(value: Cell) -> Cell:
    """Text that a spreadsheet takes for no formula, whichever character it reads as the end of a cell."""
    return FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def parts_of(records: Mapping[str, Record]) -> list[PartSummary]:
    """Summaries of all parts, in the assignment's order."""
    parts: list[PartSummary] = []
    for same in zip(*(record.judgement.parts for record in records.values()), strict=True):
        counts = Counter(part.state for part in same)
        first = same[0]
        parts.append(
            {
                "number": first.number,
                "title": first.title,
                "points": first.points,
                "extension": first.extension,
                "mean": round(mean(part.score for part in same), 2),
                "states": {state.value: counts[state] for state in State},
            }
        )
    return parts


def as_class_table(records: Mapping[str, Record]) -> str:
    """What a TA wants to know first, on one screen."""
    first = next(iter(records.values())).judgement
    scores = [record.judgement.score for record in records.values()]
    figures = f"mean {mean(scores):.1f}, median {median(scores):.1f}, of {first.max_score:g}"
    lines = [f"{first.assignment}: {len(records)} submissions, {figures}", ""]
    parts = parts_of(records)
    width = max(len(part["title"]) for part in parts)
    states = [state.value for state in State if any(part["states"][state] for part in parts)]
    lines.append(f"  {'':<{width + 5}}{'mean':>6}       " + "".join(f"  {state}" for state in states))
    for part in parts:
        counts = "".join(f"  {part['states'][state] or '·':>{len(state)}}" for state in states)
        points = f"{part['mean']:6.2f} / {part['points']:<4g}"
        lines.append(f"  {part['number']:<4} {part['title']:<{width}}{points}{counts}")
    for state in reversed(State):
        if not state.needs_a_look:
            continue
        names = [file for file, record in records.items() if any(p.state == state for p in record.judgement.parts)]
        if names:
            lines += ["", f"{state}: {_shortened(names)}"]
    if using := [file for file, record in records.items() if record.judgement.internals]:
        lines += ["", f"uses of PyTorch's or Python's internals, to be read by a person: {_shortened(using)}"]
    noted = [file for file, record in records.items() if record.run.notes]
    if noted:
        lines += ["", f"{len(noted)} with notes on the grading itself: {_shortened(noted)}"]
    levels = Counter(containment_of(record.run) for record in records.values() if record.run.layers is not None)
    lines += ["", "sandbox: " + (", ".join(levels) or "none")]
    return "\n".join(lines)


def _shortened(names: list[str]) -> str:
    shown = ", ".join(printable(name, 40) for name in names[:MOST_NAMES])
    return shown + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def histogram(records: Mapping[str, Record]) -> bytes:
    """A picture of the scores, as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # here: matplotlib takes a second to load
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    scores = [record.judgement.score for record in records.values()]
    top = max([record.judgement.max_score for record in records.values()] + scores)
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.hist(scores, bins=20, range=(0, top), color="tab:blue", edgecolor="white")
    axes.set(xlabel="score", ylabel="submissions", xlim=(0, top), title=f"{len(scores)} submissions")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.axvline(median(scores), color="tab:orange", label=f"median {median(scores):.1f}")
    axes.legend()
    picture = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()
