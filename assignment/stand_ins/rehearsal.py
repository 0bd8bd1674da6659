"""Trains a whole model for a moment."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

N_STEPS, RATE = 20, 0.01


def rehearse(model: Any, src: Tensor, tgt: Tensor, labels: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> list[float]:
    """Train a model on one batch: sentences (b, s), (b, t), labels (b, t) and masks.

    Returns the losses in eval mode before and after it, and how far log-probabilities of the two modes are apart at
    first at most; that is infinite where those in training are random.
    """

    def predictions() -> Tensor:
        memory, _ = model.encode(src, src_mask)
        output, *_ = model.decode(tgt, memory, src_mask, tgt_mask)
        log_probabilities: Tensor = model.get_predictions(output)
        return log_probabilities

    def loss() -> Tensor:
        return F.cross_entropy(predictions().flatten(0, 1), labels.flatten())

    model.eval()
    with torch.no_grad():
        expected, first = predictions(), loss().item()
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    with torch.enable_grad():
        trained, again = predictions().detach(), predictions().detach()
        for _ in range(N_STEPS):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        last = loss().item()
    return [first, last, (trained - expected).abs().max().item() if torch.equal(trained, again) else math.inf]
