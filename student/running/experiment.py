"""One training run, from the settings to the last step: a model in training, with its complete state."""

import time
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from ..data import Batch, BatchLoader, Pair, fingerprint
from ..train import train_epoch
from ..translation.translate import bleu, find_cached_search, forced_decode, translate
from ..vocab import PAD_ID, Vocabulary, join_subwords
from .building import build_model, draw_diagonal, make_optimizer
from .checkpoint import Checkpoint, CheckpointError
from .config import Config, ConfigError
from .interruption import Interruption
from .run_folder import RunFolder
from .schedule import make_scheduler
from .watching import Watched


def generators(device: torch.device | str) -> dict[str, ModuleType]:
    """Returns the random generators of training on `device`, by kind: the CPU's and, for dropout, the device's."""
    kind = torch.device(device).type
    return {"cpu": torch.random} | ({kind: torch.get_device_module(kind)} if kind != "cpu" else {})


class Experiment:
    """A model in training, with its complete state.

    A run is a sequence of steps of the optimizer. After each epoch, or after every `report_every` steps, the model is
    measured on dev and a line is added to the history.

    Attributes:
        step: steps that are done; the current epoch and the place in it follow from them.
        history: a line for each report.
        watched: the sentence pair whose attention is recorded, or None.
    """

    def __init__(self, config: Config, train_pairs: list[Pair], dev_pairs: list[Pair], device: str = "cpu") -> None:
        """Builds the vocabularies from `train_pairs` alone, and a fresh model."""
        torch.manual_seed(config.seed)
        self.config, self.dev_pairs, self.device = config, dev_pairs, device
        self.corpus = {"train": fingerprint(train_pairs), "dev": fingerprint(dev_pairs)}
        if config.share_embeddings:
            self.src_vocab = self.tgt_vocab = Vocabulary.build(chain.from_iterable(train_pairs), config.min_count)
        else:
            self.src_vocab = Vocabulary.build((src for src, _ in train_pairs), config.min_count)
            self.tgt_vocab = Vocabulary.build((tgt for _, tgt in train_pairs), config.min_count)
        self.diagonal = draw_diagonal(config)
        self.model = build_model(config, len(self.src_vocab), len(self.tgt_vocab)).to(device)
        self.criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=config.label_smoothing)
        self.optimizer = make_optimizer(config, self.model)
        self._make_loaders(train_pairs)
        self.scheduler = make_scheduler(self.optimizer, config.schedule, config.warmup_steps, self.total_steps)
        self.step = 0
        self.history: list[dict[str, float]] = []
        self.watched: Watched | None = None
        self._since_report = {"loss": 0.0, "batches": 0, "seconds": 0.0}
        self._losses: list[tuple[int, float]] = []  # step and loss, since the last report
        self._stop = Interruption()
        self._is_between_steps = True

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
        """Whether all steps are done and the last ones are reported."""
        return self.step >= self.total_steps and not self._since_report["batches"]

    @classmethod
    def resume(
        cls,
        path: Path,
        train_pairs: list[Pair],
        dev_pairs: list[Pair],
        device: str = "cpu",
        longer: dict[str, int] | None = None,
    ) -> "Experiment":
        """Continues from a checkpoint as if there had been no interruption.

        Args:
            path: of the checkpoint.
            train_pairs: those that the run began with.
            dev_pairs: likewise.
            device: to compute on.
            longer: new values of `epochs` or `max_steps`, to prolong the run. A run whose learning rate does not
                depend on the length (any schedule but cosine) goes on as if it had been that long from the beginning.

        Raises:
            CheckpointError: if the pairs differ from those that the run began with.
            ConfigError: if the run is already longer than that.
        """
        saved = Checkpoint.load(path)
        config = Config.from_dict(saved.config.to_dict() | (longer or {}))
        run = cls(config, train_pairs, dev_pairs, device)
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
        run.step = saved.epoch * run.steps_per_epoch if saved.step is None else saved.step
        run.history = saved.history
        run.watched = Watched(**saved.watched) if saved.watched else None
        run._since_report |= saved.since_report or {}
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
        )

    def run_epoch(self, progress: bool = True) -> list[str]:
        """Trains to the end of the epoch (or to the next report within it), and measures the model on dev.

        Returns:
            The translations of the dev sources.

        Raises:
            KeyboardInterrupt: after Ctrl-C; the run can be saved as it stands.
        """
        while (n_steps := self._steps_to_report()) > 0:
            self._train(n_steps, progress)
            if self._stop.is_asked:
                raise KeyboardInterrupt
        with self._stop.immediately():
            return self._measure()

    def _steps_to_report(self) -> int:
        every = self.config.report_every or self.steps_per_epoch
        if self._since_report["batches"] and self.step % every == 0:
            return 0
        return min(every - self.step % every, self.total_steps - self.step)

    def _train(self, n_steps: int, progress: bool) -> None:
        """Trains so many steps, but not beyond the end of the epoch, nor after Ctrl-C."""
        start, accumulate = time.perf_counter(), self.config.accumulate
        epoch, place = divmod(self.step, self.steps_per_epoch)
        n_before, n_all = place * accumulate, len(self.loader)
        n_batches = min(n_steps * accumulate, n_all - n_before)
        losses: list[float] = []

        def batches() -> Iterator[Batch]:
            label = f"epoch {epoch + 1}/{max(self.config.epochs, epoch + 1)}"
            with tqdm(None, label, n_all, False, initial=n_before, unit="batch", disable=not progress) as bar:
                for index, batch in enumerate(islice(self.loader.epoch(epoch, n_before), n_batches)):
                    if self._stop.is_asked and index and index % accumulate == 0:
                        return
                    if losses:
                        bar.set_postfix(loss=f"{losses[-1]:.2f}", avg_loss=f"{sum(losses) / len(losses):.2f}")
                    bar.update()
                    n_given.append(index)
                    yield batch.to(self.device)

        def note_loss(criterion: nn.Module, inputs: Any, loss: Tensor) -> None:
            losses.append(loss.item())

        n_given: list[int] = []
        handle = self.criterion.register_forward_hook(note_loss)
        self._is_between_steps = False
        try:
            mean_loss = train_epoch(
                batches(),
                self.model,
                self.optimizer,
                self.criterion,
                accumulate=accumulate,
                scheduler=self.scheduler,
                max_grad_norm=self.config.max_grad_norm or None,
            )
        finally:
            handle.remove()
        n_done = len(n_given) if self._stop.is_asked else n_batches
        for first in range(0, len(losses), accumulate):
            group = losses[first : first + accumulate]
            self._losses.append((self.step + first // accumulate + 1, sum(group) / len(group)))
        self.step += -(-n_done // accumulate)
        self._is_between_steps = True
        since = self._since_report
        since["batches"] += n_done
        since["loss"] += (mean_loss - since["loss"]) * (n_done / max(1, since["batches"]))
        since["seconds"] += time.perf_counter() - start

    def _measure(self) -> list[str]:
        """Measures the model on dev, adds a line to the history, and returns the translations."""
        start, since = time.perf_counter(), self._since_report
        translations = self.translate_dev()
        references = [join_subwords(tgt) for _, tgt in self.dev_pairs]
        epoch, is_within = divmod(self.step, self.steps_per_epoch)
        line: dict[str, float] = {"epoch": round(self.step / self.steps_per_epoch, 3) if is_within else epoch}
        if self.config.max_steps or self.config.report_every:
            line["step"] = self.step
        line["train_loss"] = round(since["loss"], 4)
        line["dev_loss"] = round(self.dev_loss(), 4)
        line["dev_bleu"] = round(bleu(translations, references), 4)
        line["seconds"] = round(since["seconds"] + time.perf_counter() - start, 1)
        self.history.append(line)
        self._since_report = {"loss": 0.0, "batches": 0, "seconds": 0.0}
        self._look(line["epoch"])
        return translations

    def _look(self, epoch: float) -> None:
        if self.watched:
            self.watched.look(self.model, self.src_vocab, self.tgt_vocab, self.diagonal, epoch)

    def translate_dev(self, count: int | None = None) -> list[str]:
        """Translates the dev sources, or the first `count` of them, into text."""
        sources, config = [src for src, _ in self.dev_pairs[:count]], self.config
        search = find_cached_search() if config.cached and config.beam_size == 1 else None
        vocabularies = self.src_vocab, self.tgt_vocab
        return translate(self.model, sources, *vocabularies, config, diagonal=self.diagonal, search=search)

    @torch.no_grad()
    def dev_loss(self) -> float:
        """Computes the mean loss of the dev batches, in eval mode."""
        losses = []
        for batch in self.dev_loader.epoch(0):
            batch = batch.to(self.device)
            log_probs, _ = forced_decode(self.model, batch)
            losses.append(self.criterion(log_probs.transpose(1, 2), batch.labels))
        return torch.stack(losses).mean().item()

    def run(
        self,
        path: Path,
        progress: bool = True,
        keep_epochs: bool = False,
        tensorboard: bool = False,
        tokenizers: Mapping[str, bytes] | None = None,
        thresholds: dict[str, float] | None = None,
    ) -> None:
        """Trains what is left of the run; saves after each report and shows it.

        Args:
            path: of the run's folder.
            progress: show a progress bar.
            keep_epochs: keep the checkpoint of every report (`epoch-01.pt`, …).
            tensorboard: also write losses and BLEU for TensorBoard.
            tokenizers: files of the corpus that the folder keeps, by name.
            thresholds: dev BLEU by name, to draw beside the curves.

        Raises:
            ConfigError: if `tensorboard` is asked for but not installed.
            KeyboardInterrupt: after Ctrl-C; all finished steps are saved.
        """
        folder = RunFolder(path, self.checkpoint(), keep_epochs, tensorboard, tokenizers, thresholds)
        if not self.is_finished:
            bleu(self.translate_dev(1), [""])  # whatever is missing or unwritten fails here, not after a trained epoch
        if self.watched and not self.watched.epochs:
            self._look(self.step / self.steps_per_epoch)
        saved_step = self.step
        with self._stop.watch():
            try:
                while not self.is_finished:
                    translations = self.run_epoch(progress)
                    folder.save_report(self.checkpoint(), self._losses)
                    saved_step, self._losses = self.step, []
                    print("  ".join(f"{name} {value:g}" for name, value in self.history[-1].items()), flush=True)
                    self._show_samples(translations)
                    if self._stop.is_asked and not self.is_finished:
                        raise KeyboardInterrupt
            except KeyboardInterrupt:
                if self.step > saved_step and self._is_between_steps:
                    folder.save_interrupted(self.checkpoint(), self._losses)
                raise

    def _show_samples(self, translations: list[str], count: int = 2) -> None:
        step = max(1, len(translations) // count)
        for index in list(range(0, len(translations), step))[:count]:
            source, reference = (join_subwords(side) for side in self.dev_pairs[index])
            print(f"    {source}\n    -> {translations[index]}\n    == {reference}", flush=True)
