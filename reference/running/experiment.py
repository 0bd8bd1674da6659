"""One training run, from the settings to the best checkpoint.

Each run has its own folder with `last.pt` (to resume from), `best.pt` (highest dev BLEU), `history.jsonl` (one line
per epoch) and, if matplotlib is installed, `curves.png`; on request also `epoch-01.pt`, … and `tensorboard/`.
A new run in the folder of an older one replaces it when its own first epoch is saved.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import torch
from torch import nn
from tqdm import tqdm

from ..data import Batch, BatchLoader, Pair, fingerprint
from ..train import train_epoch
from ..vocab import PAD_ID, Vocabulary, join_subwords
from .building import build_model, draw_diagonal, make_optimizer
from .checkpoint import Checkpoint, CheckpointError
from .config import Config, ConfigError
from .schedule import make_scheduler
from .translate import bleu, forced_decode, translate
from .whole_files import in_one_piece, make_folder

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

FILES = ("best.pt", "last.pt", "history.jsonl", "curves.png", "epoch-[0-9]*.pt", "tensorboard/events.*")


def generators(device: torch.device | str) -> dict[str, ModuleType]:
    """Returns the random generators of training on `device`, by kind: the CPU's and, for dropout, the device's."""
    kind = torch.device(device).type
    return {"cpu": torch.random} | ({kind: torch.get_device_module(kind)} if kind != "cpu" else {})


def open_tensorboard(folder: Path, epoch: int) -> "SummaryWriter":
    """Opens a writer of curves for TensorBoard; what an interrupted run wrote after `epoch` is hidden.

    Raises:
        ConfigError: if TensorBoard is not installed.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise ConfigError("--tensorboard: TensorBoard is not installed; pip install tensorboard") from None
    return SummaryWriter(str(folder), purge_step=epoch + 1)


class Experiment:
    """A model in training, with its complete state."""

    def __init__(self, config: Config, train_pairs: list[Pair], dev_pairs: list[Pair], device: str = "cpu") -> None:
        """Builds the vocabularies from `train_pairs` alone, and a fresh model."""
        torch.manual_seed(config.seed)
        self.config, self.dev_pairs, self.device = config, dev_pairs, device
        self.corpus = {"train": fingerprint(train_pairs), "dev": fingerprint(dev_pairs)}
        self.src_vocab = Vocabulary.build((src for src, _ in train_pairs), config.min_count)
        self.tgt_vocab = Vocabulary.build((tgt for _, tgt in train_pairs), config.min_count)
        self.diagonal = draw_diagonal(config)
        self.model = build_model(config, len(self.src_vocab), len(self.tgt_vocab)).to(device)
        self.criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=config.label_smoothing)
        self.optimizer = make_optimizer(config, self.model)
        self._make_loaders(train_pairs)
        steps = config.epochs * -(-len(self.loader) // config.accumulate)
        self.scheduler = make_scheduler(self.optimizer, config.schedule, config.warmup_steps, steps)
        self.history: list[dict[str, float]] = []

    def _make_loaders(self, train_pairs: list[Pair]) -> None:
        config, vocabularies = self.config, (self.src_vocab, self.tgt_vocab)
        self.loader = BatchLoader(
            train_pairs,
            *vocabularies,
            config.batch_size,
            bucketing=config.bucketing,
            diagonal=self.diagonal,
            seed=config.seed,
        )
        self.dev_loader = BatchLoader(self.dev_pairs, *vocabularies, 128, bucketing=True, diagonal=self.diagonal)

    @classmethod
    def resume(cls, path: Path, train_pairs: list[Pair], dev_pairs: list[Pair], device: str = "cpu") -> "Experiment":
        """Continues from a checkpoint as if there had been no interruption.

        Raises:
            CheckpointError: if the pairs differ from those that the run began with.
        """
        saved = Checkpoint.load(path)
        run = cls(saved.config, train_pairs, dev_pairs, device)
        for kind, mark in (saved.corpus or {}).items():
            if mark != run.corpus.get(kind):
                raise CheckpointError(f"{path}: was trained with other pairs for --{kind}; give the same pairs again")
        if (run.src_vocab.tokens, run.tgt_vocab.tokens) != (saved.src_vocab.tokens, saved.tgt_vocab.tokens):
            raise CheckpointError(f"{path}: was trained on other data: the vocabularies differ")
        saved.load_weights(run.model, path)
        run.diagonal = saved.diagonal
        run._make_loaders(train_pairs)
        run.optimizer.load_state_dict(saved.optimizer)
        run.scheduler.load_state_dict(saved.scheduler)
        run.history = saved.history
        for kind, generator in generators(device).items():
            if kind in saved.rng_states:  # a run may move to another device, where its dropout differs
                generator.set_rng_state(saved.rng_states[kind])
        return run

    def checkpoint(self) -> Checkpoint:
        """Returns the run as it stands."""
        return Checkpoint(
            config=self.config,
            src_vocab=self.src_vocab,
            tgt_vocab=self.tgt_vocab,
            weights=self.model.state_dict(),
            diagonal=self.diagonal,
            epoch=len(self.history),
            optimizer=self.optimizer.state_dict(),
            scheduler=self.scheduler.state_dict(),
            rng_states={kind: generator.get_rng_state() for kind, generator in generators(self.device).items()},
            history=self.history,
            corpus=self.corpus,
        )

    def run_epoch(self, progress: bool = True) -> list[str]:
        """Trains one epoch, measures the model on dev, and adds a line to the history.

        Returns:
            The translations of the dev sources.
        """
        number, start = len(self.history), time.perf_counter()
        batches = self._batches(number, progress)
        train_loss = train_epoch(
            batches,
            self.model,
            self.optimizer,
            self.criterion,
            accumulate=self.config.accumulate,
            scheduler=self.scheduler,
            max_grad_norm=self.config.max_grad_norm or None,
        )
        translations = self.translate_dev()
        references = [join_subwords(tgt) for _, tgt in self.dev_pairs]
        self.history.append(
            {
                "epoch": number + 1,
                "train_loss": round(train_loss, 4),
                "dev_loss": round(self.dev_loss(), 4),
                "dev_bleu": round(bleu(translations, references), 4),
                "seconds": round(time.perf_counter() - start, 1),
            }
        )
        return translations

    def _batches(self, number: int, progress: bool) -> Iterator[Batch]:
        total, label = len(self.loader), f"epoch {number + 1}/{self.config.epochs}"
        for batch in tqdm(self.loader.epoch(number), label, total, unit="batch", leave=False, disable=not progress):
            yield batch.to(self.device)

    def translate_dev(self, count: int | None = None) -> list[str]:
        """Translates the dev sources, or the first `count` of them, into text."""
        sources = [src for src, _ in self.dev_pairs[:count]]
        return translate(self.model, sources, self.src_vocab, self.tgt_vocab, self.config, diagonal=self.diagonal)

    @torch.no_grad()
    def dev_loss(self) -> float:
        """Computes the mean loss of the dev batches, in eval mode."""
        losses = []
        for batch in self.dev_loader.epoch(0):
            batch = batch.to(self.device)
            log_probs, _ = forced_decode(self.model, batch)
            losses.append(self.criterion(log_probs.transpose(1, 2), batch.labels))
        return torch.stack(losses).mean().item()

    def run(self, folder: Path, progress: bool = True, keep_epochs: bool = False, tensorboard: bool = False) -> None:
        """Trains the remaining epochs; saves after each one and reports its figures.

        Args:
            folder: the run's folder.
            progress: show a progress bar.
            keep_epochs: keep the checkpoint of every epoch (`epoch-01.pt`, …).
            tensorboard: also write losses and BLEU for TensorBoard.

        Raises:
            ConfigError: if `tensorboard` is asked for but not installed.
        """
        make_folder(folder)
        older = [] if self.history else [path for name in FILES for path in folder.glob(name)]
        if older:
            print(f"{folder} holds an older run; it is removed when the first epoch of this one is saved", flush=True)
        writer = open_tensorboard(folder / "tensorboard", len(self.history)) if tensorboard else None
        best, best_bleu = folder / "best.pt", max((line["dev_bleu"] for line in self.history), default=-1.0)
        if self.history and not best.is_file():  # it is lost: these are the best weights that are left
            self.checkpoint().save(best)
            best_bleu = self.history[-1]["dev_bleu"]
        if len(self.history) < self.config.epochs:
            bleu(self.translate_dev(1), [""])  # whatever is missing or unwritten fails here, not after a trained epoch
        while len(self.history) < self.config.epochs:
            translations = self.run_epoch(progress)
            checkpoint, last = self.checkpoint(), self.history[-1]
            if last["dev_bleu"] > best_bleu:  # of equal epochs the first
                best_bleu = last["dev_bleu"]
                checkpoint.save(best)
            while older:  # best.pt is already the new one
                if (path := older.pop()) != best:
                    path.unlink(missing_ok=True)
            if keep_epochs:
                checkpoint.save(folder / f"epoch-{last['epoch']:02}.pt")
            with in_one_piece(folder / "history.jsonl") as unfinished:
                unfinished.write_text("".join(json.dumps(line) + "\n" for line in self.history))
            # Comes last: a run that is stopped between two of these files repeats the epoch and loses nothing.
            checkpoint.save(folder / "last.pt")
            if writer:
                for name in ("train_loss", "dev_loss", "dev_bleu"):
                    writer.add_scalar(name, last[name], last["epoch"])
                writer.flush()
            self._draw_curves(folder / "curves.png")
            print("  ".join(f"{name} {value:g}" for name, value in last.items()), flush=True)
            self._show_samples(translations)

    def _draw_curves(self, path: Path) -> None:
        try:
            from .pictures import plot_history, save_figure
        except ImportError:  # training does not need matplotlib
            return
        save_figure(plot_history(self.history), path)

    def _show_samples(self, translations: list[str], count: int = 2) -> None:
        step = max(1, len(translations) // count)
        for index in list(range(0, len(translations), step))[:count]:
            source, reference = (join_subwords(side) for side in self.dev_pairs[index])
            print(f"    {source}\n    -> {translations[index]}\n    == {reference}", flush=True)
