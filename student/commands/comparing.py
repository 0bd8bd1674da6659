"""`compare`: a table of runs with the settings in which they differ and their results."""

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

from ..running.checkpoint import Checkpoint, CheckpointError


class NoReportError(CheckpointError):
    """A folder without figures to compare; the message says why."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder, written by `train`")
    parser.add_argument("--json", action="store_true", help="print all settings and figures, for programs")


def run(options: argparse.Namespace) -> int:
    """Prints the table; returns the exit status."""
    runs, unfit = [], []
    for folder in options.runs:
        try:
            runs.append(read_run(folder))
        except NoReportError as error:  # of `runs/*` some may have come to nothing yet
            unfit.append(error)
    if not runs:
        raise unfit[0]
    for why in unfit:
        print(f"note: {why}", file=sys.stderr)
    print(json.dumps(runs, indent=2) if options.json else as_table(runs))
    return 0


def read_run(folder: Path) -> dict[str, Any]:
    """Reads one run as a row: its name, all its settings, and the figures of its best epoch.

    Raises:
        NoReportError: if the folder holds no run, or one that has not been measured yet.
        CheckpointError: if the run cannot be read.
    """
    if not (folder / "last.pt").is_file():
        raise NoReportError(f"{folder}: no last.pt, so there is no run to compare")
    saved = Checkpoint.load(folder / "last.pt")
    if not saved.history:
        raise NoReportError(f"{folder}: no report yet, so there is nothing to compare")
    best = max(saved.history, key=lambda line: line["dev_bleu"])
    return {
        "run": str(folder),
        "settings": saved.config.to_dict(),
        "epochs_done": saved.epoch,
        "best_epoch": best["epoch"],
        "dev_bleu": best["dev_bleu"],
        "dev_loss": best["dev_loss"],
        "seconds_per_epoch": round(median(line["seconds"] for line in saved.history), 2),
    }


def as_table(runs: list[dict[str, Any]]) -> str:
    """Formats runs in Markdown, the best one first, with only those settings in which they differ."""
    differing = [name for name in runs[0]["settings"] if len({str(run["settings"][name]) for run in runs}) > 1]
    figures = [name for name in runs[0] if name not in ("run", "settings")]
    rows = [["run", *differing, *figures]]
    for run in sorted(runs, key=lambda run: run["dev_bleu"], reverse=True):
        values = run["run"], *map(run["settings"].get, differing), *map(run.get, figures)
        rows.append([str(value) for value in values])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)
