"""Part of the example submission."""

import statistics

import torch


def train_epoch(batches, model, rate):
    """Steps of gradient descent in the worker."""
    model.train()
    losses = []
    for x in batches:
        model.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= rate * parameter.grad
        losses.append(loss.item())
    return statistics.fmean(losses)
