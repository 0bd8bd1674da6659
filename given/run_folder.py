"""What a run leaves behind: checkpoints, history, curves; `compare` and `average` read them.

A run's folder has `last.pt` (to resume from), `best.pt` (highest dev BLEU), `settings.toml`, `history.jsonl` (a line
per report) and, if matplotlib is installed, `curves.png`; on request also `epoch-01.pt`, … (or `step-000500.pt`, …) and
`tensorboard/`; and the tokenizers of a prepared corpus, for `translate`.

A checkpoint is a dictionary of tensors, numbers and strings and is read with `weights_only=True`, so loading one runs
no code from it.
"""

from __future__ import annotations

import argparse
import io
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn

from foundation.command_line import UserError
from foundation.whole_files import make_folder, write_whole

from . import package
from .config import LENGTHS, Config, ConfigError

FORMAT = 1
FILES = """best.pt last.pt average.pt settings.toml history.jsonl curves.png epoch-[0-9]*.pt step-[0-9]*.pt
    tensorboard/events.* languages.json tokenizer*.json"""


class CheckpointError(UserError):
    """A file that is not a checkpoint of this program and version; the message says why."""


@dataclass
class Checkpoint:
    """A model with what belongs to it; the fields from `epoch` on matter only for training further."""

    config: Config
    src_vocab: package.vocab.Vocabulary
    tgt_vocab: package.vocab.Vocabulary
    weights: dict[str, Tensor]
    diagonal: Tensor | None  # the encoder's diagonal mask at its greatest length
    epoch: int  # finished epochs
    optimizer: dict[str, Any]
    scheduler: dict[str, Any]
    rng_states: dict[str, Tensor]  # states of the random generators that training uses, by kind of device
    history: list[dict[str, float]]
    corpus: dict[str, str] = field(default_factory=dict)  # fingerprints of the training and dev pairs
    step: int = 0  # steps of the optimizer that are done
    since_report: dict[str, float] = field(default_factory=dict)  # loss, batches and seconds since the last report
    watched: dict[str, Any] | None = None  # a sentence pair and its attention so far, if the run records it
    average: dict[str, Tensor] | None = None  # of the weights over time, if the run keeps it
    n_averaged: int = 0  # steps in the average

    def save(self, path: Path) -> None:
        """Writes the file whole or not at all."""
        n_special = len(package.vocab.SPECIAL_TOKENS)
        vocabularies = {name: getattr(self, name).tokens[n_special:] for name in ("src_vocab", "tgt_vocab")}
        buffer = io.BytesIO()  # writing to a full disk itself, PyTorch would raise an obscure RuntimeError
        torch.save({**vars(self), "format": FORMAT, "config": self.config.to_dict(), **vocabularies}, buffer)
        write_whole(path, buffer.getvalue())

    @classmethod
    def load(cls, path: Path) -> Checkpoint:
        """Reads what `save` wrote; all tensors are on the CPU, wherever they were.

        Raises: CheckpointError if the file is missing, damaged, or something else.
        """
        try:
            content = torch.load(path, map_location="cpu", weights_only=True)
        except OSError as error:
            hint = "; `train` writes it" if isinstance(error, FileNotFoundError) else ""
            raise CheckpointError(f"{path}: {error.strerror or error}{hint}") from None
        except Exception:  # torch.load raises a dozen kinds for a damaged file
            raise CheckpointError(f"{path}: not a checkpoint, or a damaged one") from None
        found = content.pop("format", None) if isinstance(content, dict) else None
        if found != FORMAT:
            raise CheckpointError(f"{path}: checkpoint format {found!r}, expected {FORMAT}")
        try:
            content["config"] = Config.from_dict(content["config"])
            for name in ("src_vocab", "tgt_vocab"):
                content[name] = package.vocab.Vocabulary(content[name])
            return cls(**content)
        except (KeyError, TypeError, ValueError) as error:  # a field is missing or unknown, or a setting is
            raise CheckpointError(f"{path}: not a checkpoint of this version: {error}") from None

    def load_weights(self, model: nn.Module, path: Path, last: bool = False) -> None:
        """Puts the weights into a model made from the same configuration; `path` is for messages.

        With `last`, to train further, they are those after the last step, even if there is an average to translate
        with. Raises: CheckpointError if the model's code has changed since, so that names or shapes differ.
        """
        try:
            model.load_state_dict(self.weights if last or self.average is None else self.average)
        except RuntimeError as error:
            first = str(error).strip().splitlines()[1].strip()
            raise CheckpointError(f"{path}: does not fit this model: {first}") from None


class RunFolder:
    """Writes what a run leaves behind; each file is whole at any time.

    A new run in the folder of an older one removes that when it first saves.
    """

    def __init__(
        self,
        path: Path,
        start: Checkpoint,
        keep_epochs: bool = False,
        tensorboard: bool = False,
        tokenizers: Mapping[str, bytes] | None = None,
        thresholds: dict[str, float] | None = None,
    ) -> None:
        """Prepares the folder for a run, fresh or resumed, as it is at the start.

        Args:
            path: of the folder.
            start: the run as it is now.
            keep_epochs: keep the checkpoint of every report.
            tensorboard: also write losses and BLEU for TensorBoard. Raises: ConfigError if it is not installed.
            tokenizers: files of the corpus that translate raw text later, by name.
            thresholds: dev BLEU by name, to draw beside the curves.
        """
        make_folder(path)
        self.path, self.keep_epochs = path, keep_epochs
        self.tokenizers, self.thresholds = tokenizers or {}, thresholds or {}
        self.best_bleu = max((line["dev_bleu"] for line in start.history), default=-1.0)
        self._older = [] if start.step else [file for name in FILES.split() for file in path.glob(name)]
        if self._older:
            print(f"{path} holds an older run; it is removed when this one first saves", flush=True)
        self._writer: Any = None
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                raise ConfigError("--tensorboard: TensorBoard is not installed; pip install tensorboard") from None
            # What an interrupted run wrote after this step is hidden.
            self._writer = SummaryWriter(str(path / "tensorboard"), purge_step=start.step + 1)

    def save(self, checkpoint: Checkpoint, losses: list[tuple[int, float]], is_report: bool) -> None:
        """Saves the run, after a report or between two; `losses` are step and loss since it was last saved.

        `last.pt` comes last: a run that is stopped between two of these files repeats the epoch and loses nothing.
        """
        for older in self._older:
            older.unlink()
        self._older = []
        write_whole(self.path / "settings.toml", checkpoint.config.to_toml())
        for name, content in self.tokenizers.items():
            write_whole(self.path / name, content)
        if is_report:
            last = checkpoint.history[-1]
            if last["dev_bleu"] > self.best_bleu:  # of equal reports the first
                self.best_bleu = last["dev_bleu"]
                checkpoint.save(self.path / "best.pt")
            if self.keep_epochs:
                checkpoint.save(self.path / kept_name(last))
            write_history(self.path, checkpoint.history)
            self._draw_curves(checkpoint.history)
        checkpoint.save(self.path / "last.pt")
        if self._writer:
            for step, loss in losses:
                self._writer.add_scalar("loss", loss, step)
            for name in ("train_loss", "dev_loss", "dev_bleu") if is_report else ():
                self._writer.add_scalar(name, last[name], checkpoint.step)
            self._writer.flush()

    def _draw_curves(self, history: list[dict[str, float]]) -> None:
        try:
            from .pictures import plot_history, save_figure
        except ImportError:  # training does not need matplotlib
            return
        save_figure(plot_history(history, self.thresholds), self.path / "curves.png")


def write_history(folder: Path, history: list[dict[str, float]]) -> None:
    """Writes a line for each report."""
    write_whole(folder / "history.jsonl", "".join(json.dumps(line) + "\n" for line in history))


def kept_name(line: dict[str, float]) -> str:
    """Returns the name of the checkpoint that `keep_epochs` keeps with a line of the history."""
    is_epoch = isinstance(line["epoch"], int)  # a rounded part of an epoch may be a whole number, too
    return f"epoch-{int(line['epoch']):02}.pt" if is_epoch else f"step-{int(line['step']):06}.pt"


def kept_checkpoints(folder: Path) -> list[Path]:
    """Returns the checkpoints that `keep_epochs` keeps, in the order of their reports."""
    paths = [path for kind in ("epoch", "step") for path in folder.glob(f"{kind}-[0-9]*.pt")]
    return sorted(paths, key=lambda path: len(Checkpoint.load(path).history))


def find_kept(folder: Path, name: str) -> Path:
    """Returns the checkpoint that `name` means: `epoch-02`, `2`, or the path of a file.

    Raises: ConfigError if there is none.
    """
    named = f"epoch-{int(name):02}" if name.isdecimal() else name.removesuffix(".pt")
    for path in (folder / f"{named}.pt", Path(name)):
        if path.is_file():
            return path
    kept = ", ".join(path.stem for path in kept_checkpoints(folder))
    there = f"there are {kept}" if kept else "it keeps none; `train --keep-epochs` does"
    raise ConfigError(f"--from {name}: no such checkpoint in {folder}; {there}")


def rewind(folder: Path, path: Path) -> None:
    """Puts a run's folder back to the checkpoint at `path`: what was saved later is removed.

    The best checkpoint so far is restored if it was kept; otherwise this one counts as the best.
    """
    history = Checkpoint.load(path).history
    later = [kept for kept in kept_checkpoints(folder) if len(Checkpoint.load(kept).history) > len(history)]
    best = path.with_name(kept_name(max(history, key=lambda line: line["dev_bleu"])))
    for name, source in (("best.pt", best if best.is_file() else path), ("last.pt", path)):
        write_whole(folder / name, source.read_bytes())
    write_history(folder, history)
    for kept in later:
        kept.unlink()
    print(f"{folder}: back to epoch {history[-1]['epoch']:g}; what was trained after it is removed")


def add_compare_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of `compare`."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="a run's folder, written by `train`")
    parser.add_argument("--json", action="store_true", help="print all settings and figures, for programs")


def compare(options: argparse.Namespace) -> int:
    """Prints a table of runs, with all settings and the figures of the best report; returns the exit status."""
    runs = []
    for folder in options.runs:
        saved = Checkpoint.load(folder / "last.pt") if (folder / "last.pt").is_file() else None
        if saved is None or not saved.history:  # of `runs/*` some may have come to nothing yet
            what = "no report yet" if saved else "no last.pt"
            print(f"note: {folder}: {what}, so there is nothing to compare", file=sys.stderr)
            continue
        best = max(saved.history, key=lambda line: line["dev_bleu"])
        seconds = median(line["seconds"] for line in saved.history) * len(saved.history) / max(saved.epoch, 1e-3)
        figures = {"epochs_done": saved.epoch, "best_epoch": best["epoch"], "dev_bleu": best["dev_bleu"]}
        figures |= {"dev_loss": best["dev_loss"], "seconds_per_epoch": round(seconds, 2)}
        runs.append({"run": str(folder), "settings": saved.config.to_dict(), **figures})
    if not runs:
        raise ConfigError("there is nothing to compare: expected folders that `train` wrote")
    print(json.dumps(runs, indent=2) if options.json else as_table(runs))
    return 0


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
    """Writes one checkpoint with the mean of the last weights of a run; returns the exit status.

    The mean of a few late weights lies in a flatter place than each of them and usually translates better (Vaswani et
    al. 2017, section 6.1).
    """
    folder, n_last = options.run_folder, options.last
    if n_last < 2:
        raise ConfigError(f"--last {n_last}: expected at least 2")
    paths = kept_checkpoints(folder)
    if len(paths) < n_last:
        hint = "`train --keep-epochs` keeps them"
        raise ConfigError(f"{folder} keeps {len(paths)} checkpoints, --last asks for {n_last}; {hint}")
    paths = paths[-n_last:]
    total: dict[str, Tensor] = {}
    for path in paths:
        saved = Checkpoint.load(path)
        if path == paths[0]:
            first = of_run(saved)
        elif of_run(saved) != first:
            raise CheckpointError(f"{path}: is of another run than {paths[0].name}")
        weights = saved.weights if saved.average is None else saved.average
        for name, tensor in weights.items():
            total[name] = total.get(name, 0.0) + tensor.double()
    mean = {name: (tensor / n_last).to(saved.weights[name].dtype) for name, tensor in total.items()}
    output = options.output or folder / "average.pt"
    replace(saved, weights=mean, average=None, optimizer={}, scheduler={}).save(output)
    print(f"{output}: the average of {n_last} checkpoints ({', '.join(path.name for path in paths)})")
    print(f"next: python -m {package.name()} translate --checkpoint {shlex.quote(str(output))}")
    return 0


def of_run(saved: Checkpoint) -> tuple[object, ...]:
    """Returns what checkpoints of one run have in common: settings but its length, which may grow, and data."""
    settings = {name: value for name, value in saved.config.to_dict().items() if name not in LENGTHS}
    return settings, saved.corpus, saved.src_vocab.tokens, saved.tgt_vocab.tokens
