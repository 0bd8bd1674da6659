"""Trains a whole model for a moment."""

import math

import torch
from torch import Tensor, nn

N_STEPS, RATE = 10, 0.01


def rehearse(model: nn.Module, inputs: list[Tensor], labels: Tensor) -> list[float]:
    """Train a model on one batch: the arguments of its `forward`, and labels (b, t).

    Returns the losses in eval mode before and after it, and how far log-probabilities of the two modes are apart at
    first at most; that is infinite where those in training are random.
    """

    def cost() -> Tensor:
        chosen: Tensor = model(*inputs).gather(-1, labels[..., None])
        return -chosen.mean()

    model.eval()
    with torch.no_grad():
        expected, first = model(*inputs), cost().item()
    model.train()
    learned = [*model.parameters()]
    adam = torch.optim.Adam(learned, RATE)
    with torch.enable_grad():
        trained, again = model(*inputs).detach(), model(*inputs).detach()
        for _ in range(N_STEPS):
            for parameter, slope in zip(learned, torch.autograd.grad(cost(), learned, allow_unused=True), strict=True):
                parameter.grad = slope
            adam.step()
    model.eval()
    with torch.no_grad():
        last = cost().item()
    return [first, last, (trained - expected).abs().max().item() if torch.equal(trained, again) else math.inf]
