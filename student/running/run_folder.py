"""The folder of a run: checkpoints, history, curves.

It has `last.pt` (to resume from), `best.pt` (highest dev BLEU), `settings.toml`, `history.jsonl` (a line per report)
and, if matplotlib is installed, `curves.png`; on request also `epoch-01.pt`, … (or `step-000500.pt`, …) and
`tensorboard/`; and the tokenizers of a prepared corpus, for `translate`. A new run in the folder of an older one
replaces it when it first saves.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..whole_files import in_one_piece, make_folder
from .checkpoint import Checkpoint, CheckpointError
from .config import ConfigError

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

FILES = (
    "best.pt",
    "last.pt",
    "average.pt",
    "settings.toml",
    "history.jsonl",
    "curves.png",
    "epoch-[0-9]*.pt",
    "step-[0-9]*.pt",
    "tensorboard/events.*",
    "languages.json",
    "tokenizer*.json",
)


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
        """Prepares the folder.

        Args:
            path: of the folder.
            start: the run as it is now: fresh or resumed.
            keep_epochs: keep the checkpoint of every report.
            tensorboard: also write losses and BLEU for TensorBoard.
            tokenizers: files of the corpus that translate raw text later, by name.
            thresholds: dev BLEU by name, to draw beside the curves.

        Raises:
            ConfigError: if `tensorboard` is asked for but not installed.
        """
        make_folder(path)
        self.path, self.keep_epochs = path, keep_epochs
        self.tokenizers, self.thresholds = tokenizers or {}, thresholds or {}
        self.best_bleu = best_bleu(path) if start.history else -1.0
        self._older = [] if start.step else [file for name in FILES for file in path.glob(name)]
        if self._older:
            print(f"{path} holds an older run; it is removed when this one first saves", flush=True)
        self._writer = open_tensorboard(path / "tensorboard", start.step or 0) if tensorboard else None
        # The file is lost, or the run was stopped before it was written: these are the best weights that are left.
        if start.history and start.history[-1]["dev_bleu"] > self.best_bleu:
            start.save(path / "best.pt")
            self.best_bleu = start.history[-1]["dev_bleu"]

    def save_report(self, checkpoint: Checkpoint, losses: list[tuple[int, float]]) -> None:
        """Saves the run after a report.

        Args:
            checkpoint: its history ends with that report.
            losses: of the steps since the one before: step, loss.
        """
        last = checkpoint.history[-1]
        if last["dev_bleu"] > self.best_bleu:  # of equal reports the first
            self.best_bleu = last["dev_bleu"]
            checkpoint.save(self.path / "best.pt")
        self._remove_older(self.path / "best.pt")
        if self.keep_epochs:
            checkpoint.save(self.path / kept_name(last))
        self._write_settings(checkpoint)
        with in_one_piece(self.path / "history.jsonl") as unfinished:
            unfinished.write_text("".join(json.dumps(line) + "\n" for line in checkpoint.history))
        # Comes last: a run that is stopped between two of these files repeats the epoch and loses nothing.
        checkpoint.save(self.path / "last.pt")
        if self._writer and checkpoint.step:
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
        with in_one_piece(self.path / "settings.toml") as unfinished:
            unfinished.write_text(checkpoint.config.to_toml(), encoding="utf-8")
        for name, content in self.tokenizers.items():
            with in_one_piece(self.path / name) as unfinished:
                unfinished.write_bytes(content)

    def _write_losses(self, losses: list[tuple[int, float]]) -> None:
        if self._writer:
            for step, loss in losses:
                self._writer.add_scalar("loss", loss, step)
            self._writer.flush()

    def _draw_curves(self, history: list[dict[str, float]]) -> None:
        try:
            from ..pictures.curves import plot_history
            from ..pictures.saving import save_figure
        except ImportError:  # training does not need matplotlib
            return
        save_figure(plot_history(history, self.thresholds), self.path / "curves.png")


def best_bleu(folder: Path) -> float:
    """Returns the dev BLEU of a run's best checkpoint; -1 where it is missing or damaged."""
    try:
        return Checkpoint.load(folder / "best.pt").history[-1]["dev_bleu"]
    except (CheckpointError, IndexError):
        return -1.0


def kept_name(line: dict[str, float]) -> str:
    """Returns the name of the checkpoint that `keep_epochs` keeps with a line of the history."""
    is_epoch = isinstance(line["epoch"], int)  # a rounded part of an epoch may be a whole number, too
    return f"epoch-{int(line['epoch']):02}.pt" if is_epoch else f"step-{int(line['step']):06}.pt"


def kept_checkpoints(folder: Path) -> list[Path]:
    """Returns the checkpoints that `keep_epochs` keeps, in the order of their reports."""
    paths = [path for kind in ("epoch", "step") for path in folder.glob(f"{kind}-[0-9]*.pt")]
    return sorted(paths, key=lambda path: len(Checkpoint.load(path).history))


def open_tensorboard(folder: Path, step: int) -> "SummaryWriter":
    """Opens a writer of curves for TensorBoard; what an interrupted run wrote after `step` is hidden.

    Raises:
        ConfigError: if TensorBoard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ConfigError("--tensorboard: TensorBoard is not installed; pip install tensorboard") from None
    return SummaryWriter(str(folder), purge_step=step + 1)
