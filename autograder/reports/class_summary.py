"""The records of a class for people and programs: a table of one screen, summary.csv, summary.json, a histogram."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from statistics import mean, median

from foundation.printable_text import printable
from foundation.whole_files import write_whole

from ..classroom.grading import Submission
from ..grading.marks import STATES
from ..grading.record import read_record, write_json

URGENT = ("grader error", "refused", "timeout", "out of memory")
"""States in which a part deserves a human look, the most pressing first."""
MOST_NAMES = 8


def read_class(submissions: list[Submission]) -> dict[str, dict]:
    """The records by the submissions' file names; each has one."""
    found = {submission.path.name: read_record(submission.record) for submission in submissions}
    return {name: record for name, record in found.items() if record is not None}


def rows_of(records: dict[str, dict]) -> list[dict]:
    """One flat row a submission: name, file, score, BLEU, and points and state of each part."""
    rows = []
    for file, record in records.items():
        name = " ".join(record["submission"].split())  # one line, as every row of a table should be
        row = {"submission": name, "file": printable(file), "score": record["score"]}
        row |= {"max_score": record["max_score"], "bleu": record["bleu"] and record["bleu"]["value"]}
        row |= {part["number"]: part["score"] for part in record["parts"]}
        row |= {f"{part['number']} state": part["state"] for part in record["parts"]}
        row |= {"sandbox": record["sandbox"], "graded": record["graded"], "suite": record["suite"]}
        rows.append(row)
    return rows


def write_summary(records: dict[str, dict], output: Path) -> None:
    """Writes summary.csv, summary.json and histogram.png, each in one piece."""
    rows = rows_of(records)
    write_json(output / "summary.json", {"parts": parts_of(records), "submissions": rows})
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: harmless(value) for key, value in row.items()} for row in rows)
    write_whole(output / "summary.csv", text.getvalue())
    write_whole(output / "histogram.png", histogram(records))


def harmless(value: object) -> object:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value


def parts_of(records: dict[str, dict]) -> list[dict]:
    """For each part: how many submissions are in which state, and the mean of its points."""
    parts = []
    for same in zip(*(record["parts"] for record in records.values()), strict=True):
        counts = Counter(part["state"] for part in same)
        parts.append(
            {
                **{key: same[0][key] for key in ("number", "title", "points", "extension")},
                "mean": round(mean(part["score"] for part in same), 2),
                "states": {state: counts[state] for state in STATES},
            }
        )
    return parts


def as_class_table(records: dict[str, dict]) -> str:
    """What a TA wants to know first, on one screen."""
    first = next(iter(records.values()))
    scores = [record["score"] for record in records.values()]
    figures = f"mean {mean(scores):.1f}, median {median(scores):.1f}, of {first['max_score']:g}"
    lines = [f"{first['assignment']}: {len(records)} submissions, {figures}", ""]
    parts = parts_of(records)
    width = max(len(part["title"]) for part in parts)
    states = [state for state in STATES if any(part["states"][state] for part in parts)]
    lines.append(f"  {'':<{width + 5}}{'mean':>6}       " + "".join(f"  {state}" for state in states))
    for part in parts:
        counts = "".join(f"  {part['states'][state] or '·':>{len(state)}}" for state in states)
        points = f"{part['mean']:6.2f} / {part['points']:<4g}"
        lines.append(f"  {part['number']:<4} {part['title']:<{width}}{points}{counts}")
    for state in URGENT:
        names = [file for file, record in records.items() if any(part["state"] == state for part in record["parts"])]
        if names:
            shown = ", ".join(printable(name, 40) for name in names[:MOST_NAMES])
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            lines += ["", f"{state}: {shown}{more}"]
    levels = Counter(record["sandbox"] for record in records.values() if record["sandbox"])
    lines += ["", "sandbox: " + (", ".join(levels) or "none")]
    return "\n".join(lines)


def histogram(records: dict[str, dict]) -> bytes:
    """A picture of the scores, as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scores = [record["score"] for record in records.values()]
    top = max([record["max_score"] for record in records.values()] + scores)
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot()
    axes.hist(scores, bins=20, range=(0, top), color="tab:blue", edgecolor="white")
    axes.set(xlabel="score", ylabel="submissions", xlim=(0, top), title=f"{len(scores)} submissions")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.axvline(median(scores), color="tab:orange", label=f"median {median(scores):.1f}")
    axes.legend()
    picture = io.BytesIO()
    FigureCanvasAgg(figure).print_png(picture, metadata={"Software": None})
    return picture.getvalue()
