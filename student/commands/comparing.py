"""`compare`: a table of runs with the settings in which they differ and their results."""

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

from ..running.checkpoint import Checkpoint


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the command's flags."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder, written by `train`")
    parser.add_argument("--json", action="store_true", help="print all settings and figures, for programs")


def run(options: argparse.Namespace) -> int:
    """Prints the table; returns the exit status."""
    folders = [folder for folder in options.runs if (folder / "last.pt").is_file()]
    if folders:  # of `runs/*` some may have saved nothing yet
        for folder in options.runs:
            if folder not in folders:
                print(f"note: {folder}: no last.pt, so there is no run to compare", file=sys.stderr)
    runs = [read_run(folder) for folder in folders or options.runs]
    print(json.dumps(runs, indent=2) if options.json else as_table(runs))
    return 0


def read_run(folder: Path) -> dict[str, Any]:
    """Reads one run as a row: its name, all its settings, and the figures of its best epoch.

    Raises:
        CheckpointError: if the folder holds no run.
    """
    saved = Checkpoint.load(folder / "last.pt")
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
