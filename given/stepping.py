"""Some steps of a run within one epoch, with a progress bar; Ctrl-C ends them at a safe point."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from tqdm import tqdm

from . import package
from .building import extra

if TYPE_CHECKING:
    from .experiment import Experiment


class Interruption:
    """Notes the first Ctrl-C instead of raising KeyboardInterrupt; a second one is raised at once.

    Attributes:
        is_asked: whether the user has pressed Ctrl-C.
    """

    def __init__(self) -> None:
        """Notes nothing until the with-block of `watch` begins."""
        self.is_asked = self._is_immediate = False

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Notes Ctrl-C for the length of a with-block. Only the main thread can do that; elsewhere nothing changes."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def immediately(self) -> Iterator[None]:
        """Raises KeyboardInterrupt at once after all, where nothing can be lost."""
        self._is_immediate = True
        try:
            yield
        finally:
            self._is_immediate = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.is_asked or self._is_immediate:
            raise KeyboardInterrupt
        self.is_asked = True


class Steps:
    """Steps that were trained.

    Attributes:
        n_batches: that they took.
        mean_loss: each batch counts the same.
        losses: of each batch.
    """

    def __init__(self, run: Experiment, n_steps: int, progress: bool) -> None:
        """Trains so many steps of `run`, but not beyond the end of the epoch, nor after Ctrl-C."""
        self.run, self.progress = run, progress
        self.n_batches, self.losses, self._is_cut = 0, list[float](), False
        config = run.config
        self._epoch, place = divmod(run.step, run.steps_per_epoch)
        self._n_before = place * config.accumulate
        n_batches = min(n_steps * config.accumulate, len(run.loader) - self._n_before)
        precision: Any = nullcontext()
        if config.precision != "float32":
            precision = extra("layers", "precision").computing_in(config.precision, run.device)
        handle = run.criterion.register_forward_hook(self._note_loss)
        try:
            with precision:
                self.mean_loss = package.train.train_epoch(
                    self._batches(n_batches),
                    run.model,
                    run.optimizer,
                    run.criterion,
                    accumulate=config.accumulate,
                    scheduler=run.scheduler,
                    max_grad_norm=None if run.group else config.max_grad_norm or None,
                )
        finally:
            handle.remove()
        if not self._is_cut:
            self.n_batches = n_batches  # even if a student's `train_epoch` leaves some out
        if run.group:
            self.mean_loss = sum(self.losses) / len(self.losses)

    def step_losses(self) -> list[float]:
        """Returns the mean loss of each step's batches."""
        accumulate = self.run.config.accumulate
        groups = [self.losses[first : first + accumulate] for first in range(0, len(self.losses), accumulate)]
        return [sum(group) / len(group) for group in groups]

    def _batches(self, n_batches: int) -> Iterator[package.data.Batch]:
        run, n_all = self.run, len(self.run.loader)
        label = f"epoch {self._epoch + 1}/{max(run.config.epochs, self._epoch + 1)}"
        with tqdm(None, label, n_all, False, initial=self._n_before, unit="batch", disable=not self.progress) as bar:
            for index, batch in enumerate(islice(run.loader.epoch(self._epoch, self._n_before), n_batches)):
                if index and index % run.config.accumulate == 0 and run.wants_to_stop():
                    self._is_cut = True
                    return
                if self.losses:
                    mean = sum(self.losses) / len(self.losses)
                    bar.set_postfix(loss=f"{self.losses[-1]:.2f}", avg_loss=f"{mean:.2f}")
                bar.update()
                self.n_batches += 1
                yield (run.group.share(batch) if run.group else batch).to(run.device)

    def _note_loss(self, criterion: nn.Module, inputs: Any, output: Tensor) -> None:
        loss = output.item()
        if self.run.group:
            loss = self.run.group.mean_loss(loss, int((inputs[1] != criterion.ignore_index).sum()))
        self.losses.append(loss)
