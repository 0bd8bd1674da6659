"""`compare` and `average`: a table of runs, and one checkpoint from the last ones of a run.

The mean of a few late weights lies in a flatter place than each of them and usually translates better (Vaswani et al.
2017, section 6.1).
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from torch import Tensor

from . import package
from .config import ConfigError
from .run_folder import Checkpoint, CheckpointError, kept_checkpoints
from .training import LENGTHS


class NoReportError(CheckpointError):
    """A folder without figures to compare; the message says why."""


def add_compare_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `compare`."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder, written by `train`")
    parser.add_argument("--json", action="store_true", help="print all settings and figures, for programs")


def compare(options: argparse.Namespace) -> int:
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

    Raises: NoReportError if the folder holds no run, or one that has not been measured yet; CheckpointError if the run
    cannot be read.
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
        "seconds_per_epoch": round(
            median(line["seconds"] for line in saved.history) * len(saved.history) / max(saved.epoch, 1e-3), 2
        ),
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


def add_average_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `average`."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="a run's folder, made with `train --keep-epochs`")
    parser.add_argument("--last", type=int, default=5, metavar="N", help="checkpoints to average (default: 5)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: average.pt in the run's folder")


def average(options: argparse.Namespace) -> int:
    """Writes the average; returns the exit status."""
    folder, n_last = options.run_folder, options.last
    if n_last < 2:
        raise ConfigError(f"--last {n_last}: expected at least 2")
    paths = kept_checkpoints(folder)
    if len(paths) < n_last:
        hint = "`train --keep-epochs` keeps them"
        raise ConfigError(f"{folder} keeps {len(paths)} checkpoints, --last asks for {n_last}; {hint}")
    paths = paths[-n_last:]
    output = options.output or folder / "average.pt"
    average_checkpoints(paths).save(output)
    print(f"{output}: the average of {n_last} checkpoints ({', '.join(path.name for path in paths)})")
    print(f"next: python -m {package.name()} translate --checkpoint {shlex.quote(str(output))}")
    return 0


def average_checkpoints(paths: list[Path]) -> Checkpoint:
    """Returns the last of these checkpoints with the mean of all their weights, for translating.

    Raises: CheckpointError if one cannot be read, or belongs to another run.
    """
    total: dict[str, Tensor] = {}
    first = run_of(Checkpoint.load(paths[0]))
    for path in paths:
        saved = Checkpoint.load(path)
        if run_of(saved) != first:
            raise CheckpointError(f"{path}: is of another run than {paths[0].name}")
        weights = saved.weights if saved.average is None else saved.average
        for name, tensor in weights.items():
            total[name] = total.get(name, 0.0) + tensor.double()
    mean = {name: (tensor / len(paths)).to(saved.weights[name].dtype) for name, tensor in total.items()}
    return replace(saved, weights=mean, average=None, optimizer={}, scheduler={})


def run_of(saved: Checkpoint) -> tuple[object, ...]:
    """Returns what checkpoints of one run have in common: settings but its length, which may grow, and data."""
    settings = {name: value for name, value in saved.config.to_dict().items() if name not in LENGTHS}
    return settings, saved.corpus, saved.src_vocab.tokens, saved.tgt_vocab.tokens
