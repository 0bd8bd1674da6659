"""What a run leaves behind: checkpoints, history, curves.

A run's folder has `last.pt` (to resume from), `best.pt` (highest dev BLEU), `settings.toml`, `history.jsonl` (a line
per report) and, if matplotlib is installed, `curves.png`; on request also `epoch-01.pt`, … (or `step-000500.pt`, …) and
`tensorboard/`; and the tokenizers of a prepared corpus, for `translate`. A new run in the folder of an older one
replaces it when it first saves.

A checkpoint is a dictionary of tensors, numbers and strings and is read with `weights_only=True`, so loading one runs
no code from it.
"""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from foundation.command_line import UserError
from foundation.whole_files import in_one_piece, make_folder, write_whole

from . import package
from .config import Config, ConfigError

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

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

    def save(self, path: Path | str) -> None:
        """Writes the file whole or not at all."""
        n_special = len(package.vocab.SPECIAL_TOKENS)
        vocabularies = {name: getattr(self, name).tokens[n_special:] for name in ("src_vocab", "tgt_vocab")}
        buffer = io.BytesIO()  # writing to a full disk itself, PyTorch would raise an obscure RuntimeError
        torch.save({**vars(self), "format": FORMAT, "config": self.config.to_dict(), **vocabularies}, buffer)
        with in_one_piece(Path(path)) as unfinished:
            unfinished.write_bytes(buffer.getbuffer())

    @classmethod
    def load(cls, path: Path | str) -> Checkpoint:
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
        except KeyError as error:
            raise CheckpointError(f"{path}: not a checkpoint: {error} is missing") from None
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"{path}: {str(error).removeprefix('Checkpoint.__init__() ')}") from None

    def load_weights(self, model: nn.Module, path: Path | str, last: bool = False) -> None:
        """Puts the weights into a model made from the same configuration; `path` is for messages.

        With `last`, to train further, they are those after the last step, even if there is an average to translate
        with. Raises: CheckpointError if the model's code has changed since, so that names or shapes differ.
        """
        try:
            model.load_state_dict(self.weights if last or self.average is None else self.average)
        except RuntimeError as error:
            first = str(error).strip().splitlines()[1].strip()
            raise CheckpointError(f"{path}: does not fit this model: {first}") from None


def generators(device: torch.device | str) -> dict[str, ModuleType]:
    """Returns the random generators of training on `device`, by kind: the CPU's and, for dropout, the device's."""
    kind = torch.device(device).type
    return {"cpu": torch.random} | ({kind: torch.get_device_module(kind)} if kind != "cpu" else {})


class RunFolder:
    """Writes what a run leaves behind; each file is whole at any time."""

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
        self.best_bleu = best_bleu(path) if start.history else -1.0
        self._older = [] if start.step else [file for name in FILES.split() for file in path.glob(name)]
        if self._older:
            print(f"{path} holds an older run; it is removed when this one first saves", flush=True)
        self._writer = open_tensorboard(path / "tensorboard", start.step) if tensorboard else None
        # The file is lost, or the run was stopped before it was written: these are the best weights that are left.
        if start.history and start.history[-1]["dev_bleu"] > self.best_bleu:
            start.save(path / "best.pt")
            self.best_bleu = start.history[-1]["dev_bleu"]

    def save_report(self, checkpoint: Checkpoint, losses: list[tuple[int, float]]) -> None:
        """Saves the run after a report, the last line of its history; `losses` are step and loss since the last one."""
        last = checkpoint.history[-1]
        if last["dev_bleu"] > self.best_bleu:  # of equal reports the first
            self.best_bleu = last["dev_bleu"]
            checkpoint.save(self.path / "best.pt")
        self._remove_older(self.path / "best.pt")
        if self.keep_epochs:
            checkpoint.save(self.path / kept_name(last))
        self._write_settings(checkpoint)
        write_history(self.path, checkpoint.history)
        # Comes last: a run that is stopped between two of these files repeats the epoch and loses nothing.
        checkpoint.save(self.path / "last.pt")
        if self._writer:
            for name in ("train_loss", "dev_loss", "dev_bleu"):
                self._writer.add_scalar(name, last[name], checkpoint.step)
        self._write_losses(losses)
        self._draw_curves(checkpoint.history)

    def save_interrupted(self, checkpoint: Checkpoint, losses: list[tuple[int, float]]) -> None:
        """Saves the run between two reports."""
        checkpoint.save(self.path / "last.pt")
        self._remove_older(self.path / "last.pt")
        self._write_settings(checkpoint)
        self._write_losses(losses)

    def _remove_older(self, saved: Path) -> None:
        while self._older:
            if (path := self._older.pop()) != saved:
                path.unlink(missing_ok=True)

    def _write_settings(self, checkpoint: Checkpoint) -> None:
        write_whole(self.path / "settings.toml", checkpoint.config.to_toml())
        for name, content in self.tokenizers.items():
            write_whole(self.path / name, content)

    def _write_losses(self, losses: list[tuple[int, float]]) -> None:
        if self._writer:
            for step, loss in losses:
                self._writer.add_scalar("loss", loss, step)
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


def best_bleu(folder: Path) -> float:
    """Returns the dev BLEU of a run's best checkpoint; -1 where it is missing or damaged."""
    try:
        return Checkpoint.load(folder / "best.pt").history[-1]["dev_bleu"]
    except (CheckpointError, IndexError):
        return -1.0


def open_tensorboard(folder: Path, step: int) -> SummaryWriter:
    """Opens a writer of curves for TensorBoard; what an interrupted run wrote after `step` is hidden.

    Raises: ConfigError if TensorBoard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ConfigError("--tensorboard: TensorBoard is not installed; pip install tensorboard") from None
    return SummaryWriter(str(folder), purge_step=step + 1)


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
    kept = sorted(path.stem for kind in ("epoch", "step") for path in folder.glob(f"{kind}-*.pt"))
    there = f"there are {', '.join(kept)}" if kept else "it keeps none; `train --keep-epochs` does"
    raise ConfigError(f"--from {name}: no such checkpoint in {folder}; {there}")


def rewind(folder: Path, path: Path) -> None:
    """Puts a run's folder back to the checkpoint at `path`: what was saved later is removed.

    The best checkpoint so far is restored if it was kept; otherwise this one counts as the best.
    """
    start, file = Checkpoint.load(path), folder / "history.jsonl"
    make_folder(folder)
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    later = [json.loads(line) for line in lines[len(start.history) :]]
    best = path.with_name(kept_name(max(start.history, key=lambda line: line["dev_bleu"])))
    for name, source in (("best.pt", best if best.is_file() else path), ("last.pt", path)):
        with in_one_piece(folder / name) as unfinished:
            shutil.copyfile(source, unfinished)
    write_history(folder, start.history)
    for line in later:
        (folder / kept_name(line)).unlink(missing_ok=True)
    if later:
        print(f"{folder}: back to epoch {start.history[-1]['epoch']:g}; what was trained after it is removed")
