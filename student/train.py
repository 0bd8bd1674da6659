"""One pass over the training data.

The rest of a training run (epochs, dev BLEU, checkpoints) is in `given/experiment.py`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from .data import Batch

if TYPE_CHECKING:  # only annotations name it: any model with the same methods will do
    from .model import Transformer


def batch_loss(model: "Transformer", batch: Batch, criterion: nn.Module) -> Tensor:
    """Computes the mean loss over the labels of one batch; the input is the true target so far (teacher forcing)."""
    # TODO 3.1: encode the source, decode the target input, and compare the predictions with the
    # labels: criterion takes (positions, classes) and (positions,). `Batch` says which mask is whose.
    raise NotImplementedError("TODO 3.1")


def train_epoch(
    batches: Iterable[Batch],
    model: "Transformer",
    optimizer: torch.optim.Optimizer,
    criterion: nn.CrossEntropyLoss,
    accumulate: int = 1,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    max_grad_norm: float | None = None,
) -> float:
    """Trains the model on each batch once, in train mode.

    After every group of `accumulate` batches (the last group may be smaller) the optimizer takes one step, and
    then the scheduler. The gradient is that of the mean loss over all labels of the group that are not padding,
    so the step is the same as for one large batch.

    Args:
        batches: an iterable of `Batch`; it is read once and need not have a length.
        model: offers `encode`, `decode` and `get_predictions`.
        optimizer: updates the model's parameters.
        criterion: the mean loss over all labels except `criterion.ignore_index`, which marks padding.
        accumulate: batches per step, at least 1.
        scheduler: changes the learning rate after each step, or None.
        max_grad_norm: the gradient's norm is clipped to this before a step; None = no clipping.

    Returns:
        The mean of the batch losses; each batch counts the same.
    """
    # TODO 3.1: in train mode, for each group of batches: clear the gradients, run every batch forward
    # and backward with its share of the group's labels, clip, and step (optimizer, then scheduler).
    raise NotImplementedError("TODO 3.1")
