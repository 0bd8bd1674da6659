"""Calls functions of a submission: `train_epoch` and `beam_decode`, which take a model, and any of them many times."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .arguments import Batch, Oracle, TinyTranslator


def call_each(function: Callable[..., Any], calls: Sequence[Sequence[Any]]) -> list[Any]:
    """What a function returns for each of some lists of arguments."""
    return [function(*arguments) for arguments in calls]


def train(
    train_epoch: Callable[..., Any], run: dict[str, Any]
) -> tuple[list[Any], list[Tensor], int | None, list[str]]:
    """What a training ends with; `run` has the arguments of `_train` by name."""
    return _train(train_epoch, **run)


def _train(
    train_epoch: Callable[..., Any],
    start: Sequence[Tensor],
    batches: Sequence[dict[str, Tensor]],
    rate: float,
    pad: int,
    smoothing: float,
    options: dict[str, Any],
    epochs: int = 1,
    is_training: bool = True,
    is_mixed: bool = False,
    schedule: bool = False,
    stale: bool = False,
    in_one_pass: bool = False,
    parameter_groups: int = 1,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    without_gradient: str = "",
) -> tuple[list[Any], list[Tensor], int | None, list[str]]:
    """What `train_epoch` returns after each epoch, and what it leaves behind.

    That is: the model's parameters, the scheduler's steps, and the names of changed settings (none should be).

    Args:
        train_epoch: of the submission.
        start: the parameters of a TinyTranslator.
        batches: their tensors by name.
        rate: of gradient descent.
        pad: the label that the criterion ignores.
        smoothing: of the criterion's labels.
        options: further arguments for `train_epoch`.
        epochs: how often it is called, with the same objects.
        is_training: the mode in which it gets the model, in each epoch.
        is_mixed: a part of the model is in the other mode.
        schedule: passes a scheduler that halves the rate at each step.
        stale: leaves gradients behind in the model, as an earlier use of it would.
        in_one_pass: passes an iterator, which can be read only once and has no length.
        parameter_groups: of the optimizer, n of them: parameter i is in group i % n, whose rate is rate / (1 + i % n).
        momentum: of the optimizer; without it a step shows the gradient itself.
        weight_decay: likewise.
        without_gradient: "the last" parameter is frozen, or the model has "one more", which plays no part.
    """
    (src_size, d_model), tgt_size = start[0].shape, start[1].size(0)
    model = TinyTranslator(src_size, tgt_size, d_model, start[0].dtype)
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), start, strict=True):
            parameter.copy_(value)
            parameter.grad = torch.ones_like(parameter) if stale else None
    if without_gradient == "one more":
        model.spare = nn.Parameter(torch.ones(3, dtype=start[0].dtype))
    parameters, n = list(model.parameters()), parameter_groups
    if without_gradient == "the last":
        parameters[-1].requires_grad_(False)
    groups = [{"params": parameters[i::n], "lr": rate / (1 + i)} for i in range(n)]
    descent = torch.optim.SGD(groups, lr=rate, momentum=momentum, weight_decay=weight_decay)
    scheduler = torch.optim.lr_scheduler.LambdaLR(descent, lambda step: 0.5**step) if schedule else None
    if schedule:
        options = {**options, "scheduler": scheduler}
    criterion = nn.CrossEntropyLoss(ignore_index=pad, label_smoothing=smoothing)
    several = [Batch(**tensors) for tensors in batches]
    given = model, criterion, descent, scheduler, several
    before, losses = settings(*given), []
    for _ in range(epochs):
        model.train(is_training)  # as dev BLEU between two epochs leaves it
        model.part.train(is_training is not is_mixed)
        losses.append(train_epoch(iter(several) if in_one_pass else several, model, descent, criterion, **options))
    steps, after = scheduler.last_epoch if scheduler else None, settings(*given)
    changed = [name for name, value in before.items() if after.get(name) != value]
    return losses, [parameter.detach() for parameter in model.parameters()], steps, changed


def settings(
    model: nn.Module,
    criterion: nn.Module,
    optimizer: torch.optim.Optimizer,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None,
    batches: Sequence[Batch],
) -> dict[str, str]:
    """What a training leaves as it is, by name; the rates may change as the scheduler says."""
    names = "reduction", "ignore_index", "label_smoothing", "weight", "training"
    values: dict[str, Any] = {f"criterion.{name}": getattr(criterion, name, None) for name in names}
    groups = optimizer.param_groups
    values["which of the model's parameters are learned"] = [one.requires_grad for one in model.parameters()]
    values["the optimizer's defaults"] = optimizer.defaults
    values["the optimizer's parameters"] = [[id(parameter) for parameter in group["params"]] for group in groups]
    rates = [group["lr"] for group in groups]
    values["the optimizer's learning rates"] = rates if scheduler is None else rates == scheduler.get_last_lr()
    values["the optimizer's settings"] = [
        [(name, value) for name, value in group.items() if name not in ("params", "lr")] for group in groups
    ]
    values["the scheduler's first rates"] = scheduler and scheduler.base_lrs
    values["the list of batches"] = [id(batch) for batch in batches]
    return {name: repr(value) for name, value in values.items()}


def search(decode: Callable[..., Any], how: dict[str, Any]) -> tuple[Any, bool]:
    """What a search finds; `how` has the arguments of `_search` by name."""
    return _search(decode, **how)


def _search(
    decode: Callable[..., Any],
    oracle: Sequence[Any],
    is_training: bool,
    given: Sequence[Any],
    options: dict[str, Any],
    is_mixed: bool = False,
) -> tuple[Any, bool]:
    """What a search finds with an `Oracle` for a model, and whether that is in train mode afterwards.

    Args:
        decode: of the submission.
        oracle: arguments that make the model.
        is_training: the mode in which the search gets it.
        given: the search's arguments after the model.
        options: and by keyword.
        is_mixed: a part of the model is in the other mode.
    """
    model = Oracle(*oracle).train(is_training)
    model.part.train(is_training is not is_mixed)
    found = decode(model, *given, **options)
    return found, model.training
