"""A table of runs: the settings in which they differ, and what came of each."""

from pathlib import Path
from statistics import median

from .checkpoint import Checkpoint


def read_run(folder: Path) -> dict[str, object]:
    """One run as a row: its name, all its settings, and figures of its best epoch.

    Raises:
        CheckpointError: where the folder holds no run.
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


def as_table(runs: list[dict]) -> str:
    """Markdown, the best run first; of the settings only those in which the runs differ."""
    differing = [name for name in runs[0]["settings"] if len({str(run["settings"][name]) for run in runs}) > 1]
    figures = [name for name in runs[0] if name not in ("run", "settings")]
    rows = [["run", *differing, *figures]]
    for run in sorted(runs, key=lambda run: run["dev_bleu"], reverse=True):
        values = run["run"], *map(run["settings"].get, differing), *map(run.get, figures)
        rows.append([str(value) for value in values])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)
