"""One training run, from the settings to the last step: a model in training, with its complete state."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from tqdm import tqdm

from . import package
from .building import build_model, draw_diagonal, extra, make_optimizer, make_scheduler
from .config import Config, ConfigError
from .decoding import Development, Watched, bleu
from .run_folder import Checkpoint, CheckpointError, RunFolder, generators

if TYPE_CHECKING:  # students do not have it
    from .extras.weight_average import WeightAverage

NOTHING = {"loss": 0.0, "batches": 0, "seconds": 0.0}


class Experiment:
    """A model in training, with its complete state.

    A run is a sequence of steps of the optimizer. After each epoch, or after every `report_every` steps, the model is
    measured on dev and a line is added to the history.

    Attributes:
        longest: tokens of the longest source and target.
        step: steps that are done; the current epoch and the place in it follow from them.
        history: a line for each report.
        watched: the sentence pair whose attention is recorded, or None.
    """

    def __init__(
        self,
        config: Config,
        train_pairs: Sequence[package.data.Pair],
        dev_pairs: Sequence[package.data.Pair],
        device: str = "cpu",
    ) -> None:
        """Builds the vocabularies from `train_pairs` alone, and a fresh model on `device`."""
        torch.manual_seed(config.seed)
        self.config, self.dev_pairs, self.device = config, dev_pairs, device
        census, dev_census = package.data.take_census(train_pairs), package.data.take_census(dev_pairs)
        self.corpus = {"train": census.fingerprint, "dev": dev_census.fingerprint}
        self.longest = tuple(map(max, census.longest, dev_census.longest))
        src_counts, tgt_counts = census.counts
        if config.share_embeddings:
            src_counts = tgt_counts = src_counts + tgt_counts
        self.src_vocab = package.vocab.Vocabulary.from_counts(src_counts, config.min_count)
        self.tgt_vocab = package.vocab.Vocabulary.from_counts(tgt_counts, config.min_count)
        self.diagonal = draw_diagonal(config)
        self.model = build_model(config, len(self.src_vocab), len(self.tgt_vocab)).to(device)
        ignored, smoothing = package.vocab.PAD_ID, config.label_smoothing
        self.criterion = nn.CrossEntropyLoss(ignore_index=ignored, label_smoothing=smoothing)
        self.optimizer = make_optimizer(config, self.model)
        self._make_loaders(train_pairs)
        self.scheduler = make_scheduler(self.optimizer, config, self.total_steps)
        self.step = 0
        self.history: list[dict[str, float]] = []
        self.watched: Watched | None = None
        self._since_report = {**NOTHING}
        self._losses: list[tuple[int, float]] = []  # step and loss, since the last report
        self._stop = False  # Ctrl-C was pressed
        self._is_between_steps = True
        self.average: WeightAverage | None = None
        if config.ema:
            self.average = average = extra("weight_average", "ema").WeightAverage(self.model, config.ema)
            self.optimizer.register_step_post_hook(lambda *_: average.update())

    def _make_loaders(self, train_pairs: Sequence[package.data.Pair]) -> None:
        config, vocabularies = self.config, (self.src_vocab, self.tgt_vocab)
        options: dict[str, Any] = {"bucketing": config.bucketing, "diagonal": self.diagonal, "seed": config.seed}
        self.loader = package.data.BatchLoader(train_pairs, *vocabularies, config.batch_size, **options)
        self.development = Development(self.dev_pairs, vocabularies, config, self.diagonal)

    @property
    def steps_per_epoch(self) -> int:
        """Steps of the optimizer in one epoch; the last one may have fewer batches."""
        return -(-len(self.loader) // self.config.accumulate)

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return self.config.max_steps or self.config.epochs * self.steps_per_epoch

    @property
    def is_finished(self) -> bool:
        """Whether all steps are done, or dev BLEU has stopped improving, and the last steps are reported."""
        return (self.step >= self.total_steps or self.is_stalled) and not self._since_report["batches"]

    @property
    def is_stalled(self) -> bool:
        """Whether dev BLEU has not risen for `patience` reports."""
        scores = [line["dev_bleu"] for line in self.history]
        return 0 < self.config.patience < len(scores) - (scores.index(max(scores)) if scores else 0)

    @classmethod
    def resume(
        cls,
        path: Path,
        train_pairs: Sequence[package.data.Pair],
        dev_pairs: Sequence[package.data.Pair],
        device: str = "cpu",
        longer: dict[str, int] | None = None,
    ) -> Experiment:
        """Continues from a checkpoint as if there had been no interruption, with the pairs that the run began with.

        `longer` has new values of `epochs`, `max_steps` or `patience`, to prolong the run. A run whose learning rate
        does not depend on the length (constant, inverse_sqrt) goes on as if it had been that long all along. Raises:
        CheckpointError if the pairs differ; ConfigError if the run is already longer than that.
        """
        saved = Checkpoint.load(path)
        run = cls(Config.from_dict(saved.config.to_dict() | (longer or {})), train_pairs, dev_pairs, device)
        for kind, mark in run.corpus.items():
            if mark != saved.corpus.get(kind):
                raise CheckpointError(f"{path}: was trained with other pairs for --{kind}; give the same pairs again")
        if (run.src_vocab.tokens, run.tgt_vocab.tokens) != (saved.src_vocab.tokens, saved.tgt_vocab.tokens):
            raise CheckpointError(f"{path}: was trained on other data: the vocabularies differ")
        saved.load_weights(run.model, path, last=True)
        if run.average:
            run.average.load(saved.average or saved.weights, saved.n_averaged)
        run.diagonal = saved.diagonal
        run._make_loaders(train_pairs)
        run.optimizer.load_state_dict(saved.optimizer)
        run.scheduler.load_state_dict(saved.scheduler)
        run.step, run.history, run._since_report = saved.step, saved.history, saved.since_report
        run.watched = Watched(**saved.watched) if saved.watched else None
        if run.step > run.total_steps:
            raise ConfigError(f"{path}: has {run.step} steps already, more than the {run.total_steps} that you ask for")
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
            epoch=self.step // self.steps_per_epoch,
            optimizer=self.optimizer.state_dict(),
            scheduler=self.scheduler.state_dict(),
            rng_states={kind: generator.get_rng_state() for kind, generator in generators(self.device).items()},
            history=self.history,
            corpus=self.corpus,
            step=self.step,
            since_report=self._since_report,
            watched=vars(self.watched) if self.watched else None,
            average=self.average.state() if self.average else None,
            n_averaged=self.average.n_updates if self.average else 0,
        )

    def run_epoch(self, progress: bool = True, folder: RunFolder | None = None) -> list[str]:
        """Trains to the end of the epoch (or to the next report within it), and measures the model on dev.

        Returns the translations of the dev sources, in subwords. `folder` takes the run after every `save_every` steps.
        Raises: KeyboardInterrupt after Ctrl-C; the run can be saved as it stands.
        """
        while (n_steps := self._steps_to_report()) > 0:
            n_to_save = n_steps
            if self.config.save_every and folder:
                n_to_save = self.config.save_every - self.step % self.config.save_every
            self._train(min(n_steps, n_to_save), progress)
            if n_to_save < n_steps and folder:
                self._save_between_reports(folder)
        return self._measure()

    def _steps_to_report(self) -> int:
        every = self.config.report_every or self.config.report_epochs * self.steps_per_epoch
        if self._since_report["batches"] and self.step % every == 0:
            return 0
        return min(every - self.step % every, self.total_steps - self.step)

    def _train(self, n_steps: int, progress: bool) -> None:
        """Trains so many steps, but not beyond the end of the epoch, nor after Ctrl-C, which is raised at the end."""
        config, start, since = self.config, time.perf_counter(), self._since_report
        epoch, place = divmod(self.step, self.steps_per_epoch)
        first = place * config.accumulate
        n_batches = min(n_steps * config.accumulate, len(self.loader) - first)
        precision: Any = nullcontext()
        if config.precision != "float32":
            precision = extra("layers", "precision").computing_in(config.precision, self.device)
        losses: list[float] = []
        note = self.criterion.register_forward_hook(lambda module, inputs, loss: losses.append(loss.item()))
        self._is_between_steps = False
        try:
            with precision, self._noting_ctrl_c():
                mean_loss = package.train.train_epoch(
                    self._batches(epoch, first, n_batches, losses, progress),
                    self.model,
                    self.optimizer,
                    self.criterion,
                    accumulate=config.accumulate,
                    scheduler=self.scheduler,
                    max_grad_norm=config.max_grad_norm or None,
                )
        finally:
            note.remove()
        if self._stop and losses:  # a student's `train_epoch` may leave batches out all the same
            n_batches = len(losses)
        groups = [losses[index : index + config.accumulate] for index in range(0, len(losses), config.accumulate)]
        self._losses += enumerate((sum(group) / len(group) for group in groups), start=self.step + 1)
        self.step += -(-n_batches // config.accumulate)
        self._is_between_steps = True
        since["batches"] += n_batches
        since["loss"] += (mean_loss - since["loss"]) * (n_batches / max(1, since["batches"]))
        since["seconds"] += time.perf_counter() - start
        if self._stop:
            self._stop = False
            raise KeyboardInterrupt

    def _batches(
        self, epoch: int, first: int, n_batches: int, losses: list[float], progress: bool
    ) -> Iterator[package.data.Batch]:
        """Yields batches of the epoch, with a progress bar that shows their losses; ends between steps after Ctrl-C."""
        label = f"epoch {epoch + 1}/{max(self.config.epochs, epoch + 1)}"
        total = len(self.loader)
        with tqdm(None, label, total, False, initial=first, unit="batch", disable=not progress) as bar:
            for index, batch in enumerate(islice(self.loader.epoch(epoch, first), n_batches)):
                if self._stop and index and index % self.config.accumulate == 0:
                    return
                if losses:
                    bar.set_postfix(loss=f"{losses[-1]:.2f}", avg_loss=f"{sum(losses) / len(losses):.2f}")
                bar.update()
                yield batch.to(self.device)

    def _measure(self) -> list[str]:
        """Measures the model on dev, adds a line to the history, and returns the translations."""
        start, since = time.perf_counter(), self._since_report
        with self._average_in_model():
            translations = self.development.translate(self.model)
            epoch, is_within = divmod(self.step, self.steps_per_epoch)
            line: dict[str, float] = {"epoch": round(self.step / self.steps_per_epoch, 3) if is_within else epoch}
            if self.config.max_steps or self.config.report_every:
                line["step"] = self.step
            line["train_loss"] = round(since["loss"], 4)
            line["dev_loss"] = round(self.development.loss(self.model, self.criterion), 4)
        texts = [package.vocab.join_subwords(line.split()) for line in translations]
        line["dev_bleu"] = round(bleu(texts, self.development.references), 4)
        line["seconds"] = round(since["seconds"] + time.perf_counter() - start, 1)
        self.history.append(line)
        self._since_report = {**NOTHING}
        self._look(line["epoch"])
        return translations

    def _look(self, epoch: float) -> None:
        if self.watched:
            ids = [self.src_vocab.encode(self.watched.source)], [self.tgt_vocab.encode(self.watched.target)]
            batch = package.data.Batch.from_ids(*ids, self.diagonal).to(self.device)
            with self._average_in_model():
                self.watched.look(self.model, batch, epoch)

    def _average_in_model(self) -> AbstractContextManager[None]:
        return self.average.in_model() if self.average else nullcontext()

    @contextmanager
    def _noting_ctrl_c(self) -> Iterator[None]:
        """Notes the first Ctrl-C within the block, so that the step is finished; a second one is raised at once."""
        if threading.current_thread() is not threading.main_thread():  # only there can it be noted
            yield
            return

        def note(number: int, frame: object) -> None:
            if self._stop:
                raise KeyboardInterrupt
            self._stop = True

        before = signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def run(self, path: Path, progress: bool = True, *, samples: int = 3, marks: bool = False, **kept: Any) -> None:
        """Trains what is left of the run; after each report it is saved to a folder and shown, with so many samples.

        With `marks`, these keep their byte-pair marks; `kept` are the options of `RunFolder`. Raises: ConfigError if
        TensorBoard is asked for but not installed; KeyboardInterrupt after Ctrl-C, when all finished steps are saved.
        """
        folder = RunFolder(path, self.checkpoint(), **kept)
        if not self.is_finished:
            # Whatever is missing or unwritten fails here, not after a trained epoch.
            bleu(self.development.translate(self.model, 1), [""])
        if self.watched and not self.watched.epochs:
            self._look(self.step / self.steps_per_epoch)
        self._saved_step = self.step
        try:
            while not self.is_finished:
                translations = self.run_epoch(progress, folder)
                folder.save_report(self.checkpoint(), self._losses)
                self._saved_step, self._losses = self.step, []
                print("  ".join(f"{name} {value:g}" for name, value in self.history[-1].items()), flush=True)
                seed = f"{self.config.seed}/{self.step}"
                print("\n".join(self.development.samples(translations, samples, seed, marks)), flush=True)
        except KeyboardInterrupt:
            if self.step > self._saved_step and self._is_between_steps:
                self._save_between_reports(folder)
            raise

    def _save_between_reports(self, folder: RunFolder) -> None:
        folder.save_interrupted(self.checkpoint(), self._losses)
        self._saved_step, self._losses = self.step, []
