"""One pass over the training data.

What surrounds it (epochs, dev BLEU, checkpoints) is in `experiment.py`.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from .data import Batch


def batch_loss(model: nn.Module, batch: Batch, criterion: nn.Module) -> Tensor:
    """The mean loss over the labels of one batch, with teacher forcing: the true target so far is the input."""
    # TODO 3.1: encode the source, decode the target input, and compare the predictions with the
    # labels: criterion takes (positions, classes) and (positions,).
    raise NotImplementedError("TODO 3.1")


def train_epoch(
    batches: Iterable[Batch],
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    criterion: nn.CrossEntropyLoss,
    accumulate: int = 1,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    max_grad_norm: float | None = None,
) -> float:
    """Trains the model on each batch once, in train mode.

    Every `accumulate` batches, and for a last group that is smaller, the optimizer makes one step with the
    gradient of the mean loss over all labels of the group that are not padding: the same step as for one
    large batch. Then the scheduler makes one.

    Args:
        batches: an iterable of `Batch`; it is consumed once and need not have a length.
        model: offers `encode`, `decode` and `get_predictions`.
        optimizer: of the model's parameters.
        criterion: the mean loss over labels unlike `criterion.ignore_index`, which marks padding.
        accumulate: batches a step, at least 1.
        scheduler: of the learning rate, or None.
        max_grad_norm: the gradient's norm is clipped to this before a step; None = no clipping.

    Returns:
        The mean of the batches' losses, each batch counting the same.
    """
    # TODO 3.1: in train mode, for each group of batches: clear the gradients, run every batch forward
    # and backward with its share of the group's labels, clip, and step (optimizer, then scheduler).
    raise NotImplementedError("TODO 3.1")
