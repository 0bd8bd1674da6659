"""Some steps of a run within one epoch, with a progress bar; they end early after Ctrl-C."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from tqdm import tqdm

from ..data import Batch
from ..train import train_epoch
from .building import extra

if TYPE_CHECKING:
    from .experiment import Experiment


class Steps:
    """Steps that were trained.

    Attributes:
        n_batches: that they took.
        mean_loss: each batch counts the same.
        losses: of each batch.
    """

    def __init__(self, run: "Experiment", n_steps: int, progress: bool) -> None:
        """Trains so many steps of `run`, but not beyond the end of the epoch, nor after Ctrl-C."""
        self.run, self.progress = run, progress
        self.n_batches, self.losses = 0, list[float]()
        self._is_cut = False
        config = run.config
        self._epoch, place = divmod(run.step, run.steps_per_epoch)
        self._n_before = place * config.accumulate
        n_batches = min(n_steps * config.accumulate, len(run.loader) - self._n_before)
        handle = run.criterion.register_forward_hook(self._note_loss)
        max_grad_norm = config.max_grad_norm or None
        try:
            with self._precision():
                self.mean_loss = train_epoch(
                    self._batches(n_batches),
                    run.model,
                    run.optimizer,
                    run.criterion,
                    accumulate=config.accumulate,
                    scheduler=run.scheduler,
                    max_grad_norm=None if run.group else max_grad_norm,
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

    def _precision(self) -> AbstractContextManager[None]:
        precision = self.run.config.precision
        if precision == "float32":
            return nullcontext()
        computing: AbstractContextManager[None] = extra("precision", "precision").computing_in(
            precision, self.run.device
        )
        return computing

    def _batches(self, n_batches: int) -> Iterator[Batch]:
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
