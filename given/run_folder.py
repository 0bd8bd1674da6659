"""The folder of a run: checkpoints, history, curves; `compare` reads them.

A checkpoint is a dictionary of tensors, numbers and strings and is read with `weights_only=True`, so loading one runs
no code from it.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from foundation.assignment_file import read_assignment
from foundation.command_line import UserError
from foundation.texts import first_of
from foundation.whole_files import write_whole

from .config import Config, ConfigError
from .package import Package, Setup


class CheckpointError(UserError):
    """A file that is not a checkpoint of this program and version; the message has the reason."""


@dataclass
class Checkpoint(Setup):
    """A model with what belongs to it; the fields after `weights` matter only for training further."""

    weights: dict[str, Tensor]
    optimizer: dict[str, Any]
    scheduler: dict[str, Any]
    rng_states: dict[str, Tensor]  # states of the random generators that training uses, by kind of device
    history: list[dict[str, float]]
    corpus: dict[str, str]  # fingerprints of the training and dev pairs
    files: dict[str, str]  # that they were read from
    step: int  # steps of the optimizer that are done
    since_report: dict[str, float]  # loss, batches and seconds since the last report
    watched: dict[str, Any] | None  # a sentence pair and its attention so far, if the run records it

    def save(self, path: Path) -> None:
        """Writes the file whole or not at all."""
        n_special = len(self.package.vocab.SPECIAL_TOKENS)
        content = {**vars(self), "config": asdict(self.config)}
        content |= {name: getattr(self, name).tokens[n_special:] for name in ("src_vocab", "tgt_vocab")}
        del content["package"]
        buffer = io.BytesIO()  # writing to a full disk itself, PyTorch would raise an obscure RuntimeError
        torch.save(content, buffer)
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, package: Package, path: Path) -> Checkpoint:
        """Reads what `save` wrote, to the CPU. Raises: CheckpointError if the file is missing or something else."""
        if path.is_dir():
            raise CheckpointError(f"{path}: is a folder; name a checkpoint in it, such as {path / 'best.pt'}")
        if not path.is_file():
            raise CheckpointError(f"{path}: no such file; `train` writes it")
        vocabulary = package.vocab.Vocabulary
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
            content["config"] = Config(**content["config"])
            content |= {name: vocabulary(content[name]) for name in ("src_vocab", "tgt_vocab")}
            return cls(package, **content)
        except Exception:  # torch.load raises a dozen kinds for a damaged file, and other versions have other fields
            fault = "is cut off, or not a checkpoint that `train` of this version wrote"
            raise CheckpointError(f"{path}: {fault}") from None

    def load_weights(self, model: nn.Module, path: Path) -> None:
        """Puts the weights into a model. Raises: CheckpointError if its code has changed since; `path` is for that."""
        try:
            model.load_state_dict(self.weights)
        except RuntimeError as error:
            first = str(error).strip().splitlines()[1].strip()
            raise CheckpointError(f"{path}: does not fit this model: {first}") from None


@dataclass
class Watched:
    """A sentence pair, and what the model attended to in it so far.

    The target is fixed, so that the pictures of different times show the same tokens.
    """

    source: list[str]
    target: list[str]
    epochs: list[float] = field(default_factory=list)  # when: 0 = before the first step
    weights: list[dict[str, Tensor]] = field(default_factory=list)  # then: (n_layers, h, q, k) by kind of attention


def write_report(folder: Path, checkpoint: Checkpoint, keep: bool) -> None:
    """Writes the history, its curves and, after the best report or to `keep` it, the checkpoint."""
    history, last = checkpoint.history, checkpoint.history[-1]
    if last is best_report(history):
        checkpoint.save(folder / "best.pt")
    if keep:
        kept = f"step-{last['step']:06}" if "step" in last else f"epoch-{last['epoch']:02}"
        checkpoint.save(folder / f"{kept}.pt")
    write_whole(folder / "history.jsonl", "".join(json.dumps(line) + "\n" for line in history))
    draw_curves(history, folder / "curves.png")


def draw_curves(history: list[dict[str, float]], path: Path) -> None:
    """Draws loss and dev BLEU, with the thresholds of the assignment."""
    from .pictures import plot_history, save_figure  # takes a second to load

    save_figure(plot_history(history, read_assignment().thresholds), path)


def best_report(history: list[dict[str, float]]) -> dict[str, float]:
    """Returns the line with the highest dev BLEU, of equal ones the first."""
    return max(history, key=lambda line: line["dev_bleu"])


def compare(options: argparse.Namespace) -> int:
    """Tabulates runs, the best one first: the settings in which they differ, and the dev BLEU of each."""
    runs: list[dict[str, Any]] = []
    for folder in options.runs:
        saved = Checkpoint.load(options.package, folder / "last.pt") if (folder / "last.pt").is_file() else None
        if saved and saved.history:  # of `runs/*` some may have come to nothing yet
            best, seconds = best_report(saved.history), sum(line["seconds"] for line in saved.history)
            figures = {"best_epoch": best["epoch"], "dev_bleu": best["dev_bleu"], "dev_loss": best["dev_loss"]}
            runs.append({"run": folder, **asdict(saved.config), **figures, "minutes": round(seconds / 60, 1)})
    compared = {run["run"] for run in runs}
    if others := [str(folder) for folder in options.runs if folder not in compared]:
        problem = f"nothing to compare in {first_of(others, 3)}: expected folders in which `train` has saved a report"
        if not runs:
            raise ConfigError(problem)
        print(f"note: {problem}", file=sys.stderr)
    runs.sort(key=lambda run: run["dev_bleu"], reverse=True)
    alike = {item.name for item in fields(Config) if len({run[item.name] for run in runs}) == 1}
    names = [name for name in runs[0] if name not in alike]
    rows = [names, *([str(run[name]) for name in names] for run in runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    print("\n".join("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows))
    return 0
