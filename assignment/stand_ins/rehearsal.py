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

    def cost(log_probabilities: Tensor) -> Tensor:
        return -log_probabilities.gather(-1, labels[..., None]).mean()

    model.eval()
    with torch.no_grad():
        expected = model(*inputs)
    model.train()
    learned = [*model.parameters()]
    adam = torch.optim.Adam(learned, RATE)
    with torch.enable_grad():
        trained, again = model(*inputs).detach(), model(*inputs).detach()
        for _ in range(N_STEPS):
            slopes = torch.autograd.grad(cost(model(*inputs)), learned, allow_unused=True)
            for parameter, slope in zip(learned, slopes, strict=True):
                parameter.grad = slope
            adam.step()
    model.eval()
    with torch.no_grad():
        last = cost(model(*inputs)).item()
    apart = (trained - expected).abs().max().item() if torch.equal(trained, again) else math.inf
    return [cost(expected).item(), last, apart]
