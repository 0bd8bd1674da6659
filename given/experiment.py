"""One training run, from the settings to the last step: a model in training, with its complete state.

A run's folder has `last.pt` (to resume from), `best.pt` (highest dev BLEU), `history.jsonl` (a line per report) and
`curves.png`; on request also `epoch-01.pt`, … (or `step-000500.pt`, …) and `tensorboard/`; and the tokenizers of a
prepared corpus, for `translate`. Each file is whole at any time.
"""

import random
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import nn
from tqdm import tqdm

from foundation.whole_files import make_folder, write_whole

from .config import Config, ConfigError
from .decoding import bleu, forced_decode, translate
from .package import Batch, Package, Pair, Setup, make_optimizer, make_scheduler
from .run_folder import Checkpoint, CheckpointError, Watched, write_report

FILES = """best.pt last.pt epoch-*.pt step-*.pt history.jsonl curves.png tensorboard/events.* languages.json
    tokenizer*.json"""
STATE = ("step", "history", "since_report", "corpus", "files")  # attributes of a run that a checkpoint has, too
NOTHING = {"loss": 0.0, "batches": 0, "seconds": 0.0}
DEV_BATCH = 128  # sentences, to measure the loss on dev
MOST_SCORES = 2**19  # of such a batch for each position: sentences times tokens of the vocabulary; it limits memory


class Stopped(KeyboardInterrupt):
    """Ctrl-C was pressed, and the step that it met is finished."""

    def _render_traceback_(self) -> list[str]:
        """Returns what a notebook shows in place of a traceback."""
        return ["training was stopped; `run.run(…)` in a new cell goes on, and a new Experiment begins anew"]


class Experiment(Setup):
    """A model in training, with its complete state.

    A run is a sequence of steps of the optimizer. After each epoch, or after every `report_every` steps, the model is
    measured on dev and a line is added to the history.
    """

    def __init__(
        self,
        package: Package,
        config: Config,
        train_pairs: Sequence[Pair],
        dev_pairs: Sequence[Pair],
        device: str = "cpu",
    ) -> None:
        """Builds the vocabularies from `train_pairs` alone, and a fresh model of the package on `device`."""
        torch.manual_seed(config.seed)
        census, dev_census = package.data.take_census(train_pairs), package.data.take_census(dev_pairs)
        counts = [sum(census.counts, Counter())] * 2 if config.share_embeddings else census.counts
        source, target = (package.vocab.Vocabulary.from_counts(side, config.min_count) for side in counts)
        diagonal = None
        if config.diagonal_width:
            length, generator = package.data.LONGEST["source"], torch.Generator().manual_seed(config.seed)
            diagonal = package.masks.diagonal_mask(length, config.diagonal_width, config.diagonal_random, generator)
        super().__init__(package, config, source, target, diagonal)
        self.dev_pairs, self.device = dev_pairs, device
        self.corpus = {"train": census.fingerprint, "dev": dev_census.fingerprint}
        # Tokens of the longest source and target.
        self.longest = [max(sides) for sides in zip(census.longest, dev_census.longest, strict=True)]
        self.model = self.build_model().to(device)
        smoothing, ignored = config.label_smoothing, package.vocab.PAD_ID
        self.criterion = nn.CrossEntropyLoss(ignore_index=ignored, label_smoothing=smoothing)
        self.optimizer = make_optimizer(config, self.model)
        options: dict[str, Any] = {"bucketing": config.bucketing, "diagonal": diagonal, "seed": config.seed}
        self.loader = package.data.BatchLoader(train_pairs, source, target, config.batch_size, **options)
        size = min(DEV_BATCH, MOST_SCORES // len(self.tgt_vocab) or 1)
        options = {"bucketing": True, "diagonal": diagonal}
        self.dev_loader = package.data.BatchLoader(dev_pairs, source, target, size, **options)
        self.scheduler = make_scheduler(self.optimizer, config, self.total_steps)
        self.files: dict[str, str] = {}  # of the pairs, for `--resume`
        self.step = 0  # steps that are done; the current epoch and the place in it follow from them
        self.history: list[dict[str, float]] = []  # a line for each report
        self.watched: Watched | None = None  # the sentence pair whose attention is recorded
        self.since_report = {**NOTHING}  # loss, batches and seconds
        self._stop = False  # Ctrl-C was pressed
        self._folder: Path | None = None
        self._keeps_epochs = False
        self._writer: Any = None  # for TensorBoard

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
        """True if all steps are done, and the last of them are reported."""
        return self.step >= self.total_steps and not self.since_report["batches"]

    def restore(self, saved: Checkpoint, path: Path) -> None:
        """Goes on from a checkpoint, the file `path`, as if there had been no interruption.

        The settings are those of the checkpoint, but for the length. A run whose learning rate does not depend on it
        (constant, inverse_sqrt) goes on as if it had been that long all along. Raises: CheckpointError if the pairs
        are not those that the run began with; ConfigError if the run is already longer than that.
        """
        for kind, mark in self.corpus.items():
            if mark != saved.corpus[kind]:
                raise CheckpointError(f"{path}: was trained with other pairs for --{kind}; give the same pairs again")
        if saved.step > self.total_steps:
            total = self.total_steps
            raise ConfigError(f"{path}: has {saved.step} steps already, more than the {total} that you ask for")
        saved.load_weights(self.model, path)
        self.optimizer.load_state_dict(saved.optimizer)
        self.scheduler.load_state_dict(saved.scheduler)
        for name in STATE:
            setattr(self, name, getattr(saved, name))
        self.watched = Watched(**saved.watched) if saved.watched else None
        for kind, generator in self._generators().items():
            if kind in saved.rng_states:  # a run may move to another device, where its dropout differs
                generator.set_rng_state(saved.rng_states[kind])

    def checkpoint(self) -> Checkpoint:
        """Returns the run as it stands."""
        return Checkpoint(
            **{name: getattr(self, name) for name in (*(item.name for item in fields(Setup)), *STATE)},
            weights=self.model.state_dict(),
            optimizer=self.optimizer.state_dict(),
            scheduler=self.scheduler.state_dict(),
            rng_states={kind: generator.get_rng_state() for kind, generator in self._generators().items()},
            watched=vars(self.watched) if self.watched else None,
        )

    def _generators(self) -> dict[str, Any]:
        """Returns the random generators of training, by kind: the CPU's and, for dropout, the device's."""
        kind = torch.device(self.device).type
        return {"cpu": torch.random} | ({kind: torch.get_device_module(kind)} if kind != "cpu" else {})

    def run(
        self,
        path: Path,
        progress: bool = True,
        *,
        samples: int = 3,
        marks: bool = False,
        keep_epochs: bool = False,
        tensorboard: bool = False,
        tokenizers: Mapping[str, bytes] = {},
    ) -> None:
        """Trains what is left of the run; after each report it is saved to a folder and shown, with so many samples.

        With `marks`, these keep their byte-pair marks; `keep_epochs` keeps the checkpoint of each report. `tokenizers`
        are files of the corpus, by name, that translate raw text later. A new run takes the place of an older one in
        the folder. Raises: Stopped after Ctrl-C, when all finished steps are saved.
        """
        if not self.is_finished:
            # Whatever is missing or unwritten fails here, not after a trained epoch.
            bleu(list(map(" ".join, self.translate_dev(1))), [""])
            next(self.dev_losses())
            import_module(f"{__package__}.pictures")
        make_folder(path)
        self._folder, self._keeps_epochs = path, keep_epochs
        if self.step == 0 and (path / "last.pt").exists():
            print(f"the run that was in {path} is replaced")
        for name in FILES.split() if self.step == 0 else ():
            for older in path.glob(name):
                older.unlink()
        for name, content in tokenizers.items():
            write_whole(path / name, content)
        if tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            # What an interrupted run wrote after this step is hidden.
            self._writer = SummaryWriter(str(path / "tensorboard"), purge_step=self.step + 1)
        if self.watched and not self.watched.epochs:
            self._look(self.step / self.steps_per_epoch)
        try:
            with self._noting_ctrl_c():
                while not self.is_finished:
                    translations = self.run_epoch(progress)
                    self._save(is_report=True)
                    print("  ".join(f"{name} {value:g}" for name, value in self.history[-1].items()), flush=True)
                    print("".join(self._draw_samples(translations, samples, marks)), end="", flush=True)
        except Stopped:
            if self.step:
                self._save()
            raise

    def _save(self, is_report: bool = False) -> None:
        """Saves the run, after a report or between two."""
        if not self._folder:
            return
        checkpoint = self.checkpoint()
        if is_report:
            write_report(self._folder, checkpoint, self._keeps_epochs)
        checkpoint.save(self._folder / "last.pt")  # at last, so that a run that is stopped here loses nothing
        if self._writer:
            for name in ("train_loss", "dev_loss", "dev_bleu") if is_report else ():
                self._writer.add_scalar(name, self.history[-1][name], self.step)
            self._writer.flush()

    def run_epoch(self, progress: bool = True) -> list[list[str]]:
        """Trains to the end of the epoch (or to the next report within it), and measures the model on dev.

        Returns the translations of the dev sources, in subwords. Raises: Stopped after Ctrl-C, if `run` notes it; the
        run can be saved as it stands.
        """
        report_every = self.config.report_every or self.config.report_epochs * self.steps_per_epoch
        save_every = self.config.save_every or report_every
        while not self.since_report["batches"] or (self.step % report_every and self.step < self.total_steps):
            if self._stop:
                raise Stopped
            ends = [(self.step // every + 1) * every for every in (report_every, save_every, self.steps_per_epoch)]
            self._train(min(*ends, self.total_steps) - self.step, progress)
            if self.step % save_every == 0 and self.step % report_every:
                self._save()
        return self._measure()

    def _train(self, n_steps: int, progress: bool) -> None:
        """Trains so many steps of one epoch, or fewer after Ctrl-C."""
        config, start, since = self.config, time.perf_counter(), self.since_report
        epoch, place = divmod(self.step, self.steps_per_epoch)
        first = place * config.accumulate
        n_batches = min(n_steps * config.accumulate, len(self.loader) - first)
        losses: list[float] = []
        with self.criterion.register_forward_hook(lambda *call: losses.append(float(call[-1].detach()))):
            mean_loss = self.package.train.train_epoch(
                self._batches(epoch, first, n_batches, losses, progress),
                self.model,
                self.optimizer,
                self.criterion,
                accumulate=config.accumulate,
                scheduler=self.scheduler,
                max_grad_norm=config.max_grad_norm or None,
            )
        if self._stop:
            n_batches = len(losses)
        for index in range(0, len(losses) if self._writer else 0, config.accumulate):
            group = losses[index : index + config.accumulate]
            self._writer.add_scalar("loss", fmean(group), self.step + 1 + index // config.accumulate)
        self.step += -(-n_batches // config.accumulate)
        since["batches"] += n_batches
        since["loss"] += (mean_loss - since["loss"]) * (n_batches / max(1, since["batches"]))
        since["seconds"] += time.perf_counter() - start

    def _batches(self, epoch: int, first: int, n_batches: int, losses: list[float], progress: bool) -> Iterator[Batch]:
        """Yields batches of the epoch, with a progress bar that shows their losses; ends between steps after Ctrl-C."""
        total = len(self.loader)
        with tqdm(None, f"epoch {epoch + 1}", total, False, initial=first, unit="batch", disable=not progress) as bar:
            for index, batch in enumerate(islice(self.loader.epoch(epoch, first), n_batches)):
                if self._stop and index and index % self.config.accumulate == 0:
                    return
                if losses:
                    bar.set_postfix(loss=f"{losses[-1]:.2f}", avg_loss=f"{fmean(losses):.2f}")
                bar.update()
                yield batch.to(self.device)

    @contextmanager
    def _noting_ctrl_c(self) -> Iterator[None]:
        """Notes the first Ctrl-C within the block, so that a step is finished; a second one is raised at once."""

        def note(number: int, frame: object) -> None:
            signal.signal(signal.SIGINT, before)
            self._stop = True

        before = signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
            self._stop = False

    def _measure(self) -> list[list[str]]:
        """Measures the model on dev, adds a line to the history, and returns the translations."""
        start, since = time.perf_counter(), self.since_report
        epoch, is_within = divmod(self.step, self.steps_per_epoch)
        line: dict[str, float] = {"epoch": round(self.step / self.steps_per_epoch, 3) if is_within else epoch}
        if self.config.max_steps or self.config.report_every:
            line["step"] = self.step
        line["train_loss"] = round(since["loss"], 4)
        translations = self.translate_dev()
        line["dev_loss"] = round(fmean(self.dev_losses()), 4)
        join = self.package.vocab.join_subwords
        references, texts = [join(target) for _, target in self.dev_pairs], [join(tokens) for tokens in translations]
        line["dev_bleu"] = round(bleu(texts, references), 4)
        line["seconds"] = round(since["seconds"] + time.perf_counter() - start, 1)
        self.history.append(line)
        self.since_report = {**NOTHING}
        self._look(line["epoch"])
        return translations

    @torch.no_grad()
    def dev_losses(self) -> Iterator[float]:
        """Yields the loss of each dev batch."""
        self.model.eval()
        for batch in self.dev_loader.epoch(0):
            yield self.package.train.batch_loss(self.model, batch.to(self.device), self.criterion).item()

    def translate_dev(self, count: int | None = None) -> list[list[str]]:
        """Translates the dev sources, or the first `count` of them, into subwords."""
        return translate(self.model, [source for source, _ in islice(self.dev_pairs, count)], self)

    def _draw_samples(self, translations: list[list[str]], count: int, marks: bool) -> list[str]:
        """Picks dev sentences at random and shows what became of them: source, translation, reference."""
        generator = random.Random(f"{self.config.seed}/{self.step}")  # noqa: S311  # draws samples
        lines = []
        for index in sorted(generator.sample(range(len(self.dev_pairs)), min(count, len(self.dev_pairs)))):
            source, reference = self.dev_pairs[index]
            shown = (source, translations[index], reference)
            texts = (" ".join(tokens) if marks else self.package.vocab.join_subwords(tokens) for tokens in shown)
            lines += [f"    {sign}{text}\n" for sign, text in zip(("", "-> ", "== "), texts, strict=True)]
        return lines

    def _look(self, epoch: float) -> None:
        """Records the attention in the watched pair, in the model as it is now; draws no random numbers."""
        if self.watched:
            batch = self.batch([(self.watched.source, self.watched.target)], self.device)
            weights = forced_decode(self.model, batch)[1]
            self.watched.epochs.append(epoch)
            self.watched.weights.append({kind: torch.cat(layers).cpu() for kind, layers in weights.items()})
