"""Trains a whole model for a moment, by the submission's own `train_epoch`."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .models import Batch

N_STEPS, RATE = 10, 0.01

_kept: list[Any] = []


def keep(model: nn.Module) -> None:
    """Keep a model for the next rehearsals: what is called there is another component."""
    _kept[:] = [model]


def rehearse(train_epoch: Callable[..., Any], inputs: Sequence[Tensor], labels: Tensor) -> list[float]:
    """Train the model that was kept on one batch: the arguments of its `forward`, and labels (b, t).

    Returns the losses in eval mode before and after it, and how far log-probabilities of the two modes are apart at
    first at most; that is infinite where those in training are random.
    """
    [model] = _kept
    names = "src", "tgt_input", "src_mask", "tgt_mask"
    tensors = dict(zip(names, inputs, strict=True))
    batch = Batch(**tensors, encoder_mask=tensors["src_mask"], labels=labels)

    def predict(is_training: bool = False) -> Tensor:
        model.train(is_training)
        with torch.set_grad_enabled(is_training):
            predictions: Tensor = model(*inputs)
        return predictions.detach()

    def loss() -> float:
        return -predict().gather(-1, labels[..., None]).mean().item()

    first, expected, trained, again = loss(), predict(), predict(is_training=True), predict(is_training=True)
    with torch.enable_grad():
        adam = torch.optim.Adam(model.parameters(), RATE)
        train_epoch([batch] * N_STEPS, model, adam, nn.CrossEntropyLoss(ignore_index=0))
    apart = (trained - expected).abs().max().item() if torch.equal(trained, again) else math.inf
    return [first, loss(), apart]
