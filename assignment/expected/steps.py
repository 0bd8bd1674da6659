"""What the steps of a training show: of which batches is the gradient, and with which weights?

Before a step the gradient should be that of the mean over all labels of the group's batches: each batch's own gradient,
weighted by its share of the labels. Which weights it has instead is found by least squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

from assignment.stand_ins.models import TinyTranslator
from autograder.testing.comparison import alike

if TYPE_CHECKING:
    from .trainings import Training

SIZES = 7, 9, 5
"""Of the small model: source and target vocabulary, d_model."""
EXACT = 1e-4
"""Relative to the gradient: so much of it the weighted gradients of batches may leave unexplained."""


def summed_loss(model: TinyTranslator, batch: dict[str, Tensor], pad: int, smoothing: float) -> tuple[Tensor, int]:
    """The sum of the losses of a batch's labels but padding, and how many there are."""
    read = model.encode(batch["src"], batch["encoder_mask"])[0]
    states = model.decode(batch["tgt_input"], read, batch["src_mask"], batch["tgt_mask"])[0]
    said = model.get_predictions(states).flatten(0, 1)
    labels = batch["labels"].reshape(-1)
    summed = F.cross_entropy(said, labels, ignore_index=pad, label_smoothing=smoothing, reduction="sum")
    return summed, int((labels != pad).sum())


def copy_of(parameters: Sequence[Tensor]) -> TinyTranslator:
    """The small model with these parameters, in train mode and float64; further ones do not count."""
    model = TinyTranslator(*SIZES)
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), parameters, strict=False):
            parameter.copy_(value)
    return model


def gradient_of(training: Training, parameters: Sequence[Tensor], batch: dict[str, Tensor], **other: Any) -> Tensor:
    """The gradient of a batch's mean loss, all numbers in a row; `other` settings are a pad, a smoothing, a mode."""
    model = copy_of(parameters).train(other.get("is_training", True))
    pad, smoothing = other.get("pad", training.pad), other.get("smoothing", training.smoothing)
    with torch.enable_grad():
        summed, count = summed_loss(model, batch, pad, smoothing)
        gradients = torch.autograd.grad(summed / count, list(model.parameters()))
    return torch.cat([gradient.flatten() for gradient in gradients])[: training.n_numbers]


def first_deviation(
    training: Training, options: dict[str, Any], how: dict[str, Any], steps: Sequence[Sequence[Any]]
) -> str:
    """Says what is wrong at the first step that is not as it should be; "" if all are."""
    n, batches = options["accumulate"], training.batches
    groups = [range(first, min(first + n, len(batches))) for first in range(0, len(batches), n)]
    groups *= how["epochs"]
    if not steps:
        return "the optimizer never steps"
    before: list[tuple[str, Tensor]] = []  # gradients of earlier batches, with their names
    for number, (step, group) in enumerate(zip(steps, groups, strict=False), start=1):
        gradients, parameters, n_read, is_training, rate = step
        if n_read != len(group):
            return f"step {number} comes after {n_read} more batches; it should come after {len(group)}"
        found = torch.cat([gradient.double().flatten() for gradient in gradients])[: training.n_numbers]
        told = weights_of(training, found, parameters, group, before, options["max_grad_norm"])
        if told:
            mode = "" if is_training else "; the model is in eval mode"
            return f"the gradient before step {number} {told}{mode}"
        due = training.rate * (0.5 ** (number - 1) if "schedule" in how else 1)
        if abs(rate - due) > EXACT * due:
            return f"step {number} has the learning rate {rate:.4g}; it should be {due:.4g}"
        before += [(f"batch {one + 1}", gradient_of(training, parameters, batches[one])) for one in group]
    if len(steps) != len(groups):
        return f"the optimizer takes {len(steps)} steps; it should take {len(groups)}"
    return "the gradient is right before each step: do the parameters change by the optimizer's steps alone?"


def weights_of(
    training: Training,
    found: Tensor,
    parameters: Sequence[Tensor],
    group: range,
    before: Sequence[tuple[str, Tensor]],
    max_norm: float | None,
) -> str:
    """Says which gradient this is, continuing "the gradient before the step"; "" if it is right."""
    batches = [training.batches[one] for one in group]
    counts = torch.tensor([float((batch["labels"] != training.pad).sum()) for batch in batches], dtype=torch.float64)
    shares = counts / counts.sum()
    own = [gradient_of(training, parameters, batch) for batch in batches]
    wanted = sum(share * one for share, one in zip(shares.tolist(), own, strict=True))
    if isinstance(wanted, Tensor) and max_norm is not None:
        wanted = wanted * min(1.0, max_norm / float(wanted.norm()))
    if alike(found, wanted):
        return ""
    if not found.any():
        return "is 0"
    if max_norm is not None and abs(float(found.norm()) - float(wanted.norm())) > EXACT * float(wanted.norm()):
        cosine = float(found @ wanted / found.norm() / wanted.norm())
        if cosine > 1 - EXACT:
            norms = f"has the norm {float(found.norm()):.3g}, where max_grad_norm = {max_norm:g}"
            return f"{norms}; it should be {float(wanted.norm()):.3g}"
    names = [f"batch {one + 1}" for one in group]
    ones = [("old", torch.ones_like(found))]
    for added in ([], ones, list(before)):
        solved = solve([*own, *(one for _, one in added)], found)
        if solved is None:
            continue
        if added is ones:
            return "contains gradients from before the call"
        if added:
            late = [name for (name, _), weight in zip(added, solved[len(own) :], strict=True) if abs(weight) > EXACT]
            return f"contains that of {', '.join(late)}, too, from an earlier step"
        return in_words(names, (solved / shares).tolist(), len(group))
    others: dict[str, dict[str, Any]] = {
        "is that of a loss that counts padding, too": {"pad": -100},
        "is that of a loss that has no label smoothing": {"smoothing": 0.0},
        "belongs to a model in eval mode": {"is_training": False},
    }
    for text, other in others.items():
        if solve([gradient_of(training, parameters, batch, **other) for batch in batches], found) is not None:
            return text
    return ""


def solve(gradients: Sequence[Tensor], found: Tensor) -> Tensor | None:
    """The weights with which gradients add up to what was found; None where they do not."""
    basis = torch.stack(list(gradients), dim=1)
    weights = torch.linalg.lstsq(basis, found[:, None]).solution[:, 0]
    is_off = float((basis @ weights - found).norm()) > EXACT * float(found.norm())
    return None if is_off else weights


def in_words(names: Sequence[str], times: Sequence[float], n: int) -> str:
    """How much batches count, as a multiple of what they should."""
    if idle := [name for name, one in zip(names, times, strict=True) if abs(one) < EXACT]:
        return f"has no part of {', '.join(idle)}"
    if max(times) - min(times) < EXACT:
        return f"is {times[0]:.4g} times that of the mean over all labels of the group" + (
            f", which has {n} batches" * (n > 1)
        )
    parts = (f"the labels of {name} {one:.3g} times" for name, one in zip(names, times, strict=True))
    return f"counts {', '.join(parts)} as much as it should"
