"""Diagnosis of a training that ends otherwise than it should: the first step that is wrong, or the mean that is.

Before a step the gradient should be that of the mean over all labels of the group's batches. How much the gradient of
each batch should count in it, and how much it does, is found by least squares.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from autograder.testing.comparison import alike
from autograder.testing.experiments import attempted
from foundation.texts import printable

from .search import in_a_row
from .trainings import IN_EVAL_MODE, Training, limited

EXACT = 1e-4
"""Relative to the gradient: so much of it the weighted gradients of batches may leave unexplained."""


def observe(training: Training) -> str:
    """Name in one line where a training of this kind first does something else than it should; "" = nowhere."""

    def find() -> str:
        note, steps = training.watch()
        return printable(str(note)) or first_deviation(training, steps)  # it comes from where the submission runs

    return attempted(find)


def about_mean(training: Training, returned: Sequence[float]) -> str:
    """Name what the first epoch's loss is in place of the mean, where no step changes the parameters."""
    costs, _ = training.costs(in_a_row(training.start).double(), range(len(training.batches)))
    losses, of_all = [float(of_batch.mean()) for of_batch in costs], torch.cat([*costs])
    others = {
        "the sum of the batches' losses": sum(losses),
        "the last batch's loss": losses[-1],
        "the first batch's loss": losses[0],
        "the mean over all labels": float(of_all.mean()),
        "the sum over all labels": float(of_all.sum()),
    }
    fits = (text for text, loss in others.items() if abs(loss - returned[0]) < 1e-6 * abs(loss))
    return next((f"this is {text}" for text in fits), "")


def first_deviation(training: Training, steps: Sequence[Sequence[Any]]) -> str:
    """Name what is wrong at the first step that is not as it should be."""
    groups = training.groups
    if not steps:
        return "the optimizer never steps"
    before: list[tuple[str, Tensor]] = []  # gradients of earlier batches, with their names
    for number, (step, group) in enumerate(zip(steps, groups, strict=False), start=1):
        gradients, parameters, n_read, is_training, rate = step
        place = in_a_row(parameters).double()[: sum(parameter.numel() for parameter in training.start)]
        if n_read != len(group):
            return f"step {number} comes after {n_read} more batches; it should come after {len(group)}"
        applied = in_a_row(gradients).double()[: training.n_numbers]
        if deviation := deviation_of_gradient(training, applied, place, group, before):
            mode = "" if is_training or "eval mode" in deviation else "; the model, or a part of it, is in eval mode"
            return f"the gradient before step {number} {deviation}{mode}"
        due = training.rate_of(number - 1)
        if abs(rate - due) > EXACT * due:
            others = (n for n in range(1, 20) if abs(rate - training.rate_of(n - 1)) <= EXACT * rate)
            of_other = "".join(f", that of step {n}" for n in islice(others, 1)) * ("schedule" in training.state)
            return f"step {number} has the learning rate {rate:.4g}{of_other}; it should be {due:.4g}"
        before += [(f"batch {index + 1}", training.costs(place, [index])[1]) for index in group]
    if len(steps) != len(groups):
        return f"the optimizer takes {len(steps)} steps; it should take {len(groups)}"
    return "the gradient is right before each step: do the parameters change by the optimizer's steps alone?"


OTHER_GRADIENTS: dict[str, dict[str, Any]] = {
    "is that of a loss that counts padding, too": {"with_padding": True},
    "is that of a loss that has no label smoothing": {"smoothing": 0.0},
    "belongs to a model in eval mode": {"mode": IN_EVAL_MODE},
}


def deviation_of_gradient(
    training: Training, applied: Tensor, place: Tensor, group: Sequence[int], before: list[tuple[str, Tensor]]
) -> str:
    """Name which gradient this is, continuing "the gradient before the step"; "" if it is right."""
    own, max_norm = [training.costs(place, [number])[1] for number in group], training.max_grad_norm
    _, whole = training.costs(place, group)
    shares, wanted = weights_of(own, whole), limited(whole, max_norm)
    norm, due = float(applied.norm()), float(wanted.norm())
    if alike(applied, wanted):
        return ""
    if not applied.any():
        return "is 0"
    if max_norm is not None and abs(norm - due) > EXACT * due and float(applied @ wanted) > (1 - EXACT) * norm * due:
        return f"has the norm {norm:.3g}, where max_grad_norm = {max_norm:g}; it should be {due:.3g}"
    if max_norm is not None:
        by_batch = shares @ torch.stack([limited(gradient, max_norm) for gradient in own])
        running = torch.zeros_like(whole)
        for share, gradient in zip(shares, own, strict=True):
            running = limited(running + share * gradient, max_norm)
        if text := other_clipping(training, applied, whole, by_batch, running):
            return text
    if (weights := solve(own, applied)) is not None:
        labels = [training.batches[number]["labels"] for number in group]
        counts_of = {
            "equally, however many labels they have": [1.0 for _ in labels],
            "by all their labels, padding too": [float(x.numel()) for x in labels],
            "by their numbers of sentences": [float(len(x)) for x in labels],
        }
        for text, factors in counts_of.items():
            other = torch.tensor(factors, dtype=torch.float64)
            if len(labels) > 1 and alike(weights, other / other.sum()):
                return f"weights the batches of the group {text}"
        return in_words([f"batch {number + 1}" for number in group], (weights / shares).tolist())
    if solve([*own, torch.ones_like(applied)], applied) is not None:
        return "contains gradients from before the call"
    if before and (weights := solve([*own, *(gradient for _, gradient in before)], applied)) is not None:
        late = [name for (name, _), weight in zip(before, weights[len(own) :], strict=True) if abs(weight) > EXACT]
        return f"contains that of {', '.join(late)}, too, from an earlier step"
    for text, changes in OTHER_GRADIENTS.items():
        if solve([training.costs(place, [number], **changes)[1] for number in group], applied) is not None:
            return text
    return "is another one than that of the mean over all labels of the group"


def other_clipping(training: Training, gradient: Tensor, whole: Tensor, by_batch: Tensor, running: Tensor) -> str:
    """Name what is limited in place of the norm of the whole gradient; "" where it is nothing that is known."""
    max_norm = float(training.max_grad_norm or 0)
    pieces = whole.split(training.sizes)
    others = {
        "has each number limited, not the norm of all": whole.clamp(-max_norm, max_norm),
        "has the norm of each parameter limited by itself": in_a_row([limited(piece, max_norm) for piece in pieces]),
        "has the norm of each batch's gradient limited, not that of the group": by_batch,
        "has its norm limited after each batch, not once for the group": running,
    }
    near = EXACT * gradient.norm()  # PyTorch adds 1e-6 to a norm
    return next((text for text, other in others.items() if (gradient - other).norm() < near), "")


def weights_of(gradients: Sequence[Tensor], gradient: Tensor) -> Tensor:
    """The weights with which gradients come nearest to another one."""
    solution: Tensor = torch.linalg.lstsq(torch.stack([*gradients], dim=1), gradient[:, None]).solution
    return solution[:, 0]


def solve(gradients: Sequence[Tensor], gradient: Tensor) -> Tensor | None:
    """The weights with which gradients add up to another one; None where they do not."""
    weights = weights_of(gradients, gradient)
    is_off = float((weights @ torch.stack([*gradients]) - gradient).norm()) > EXACT * float(gradient.norm())
    return None if is_off else weights


def in_words(names: Sequence[str], times: Sequence[float]) -> str:
    """How much batches count, as a multiple of what they should."""
    if idle := [name for name, factor in zip(names, times, strict=True) if abs(factor) < EXACT]:
        return f"has no part of {', '.join(idle)}"
    if max(times) - min(times) < EXACT:
        size = f", which has {len(names)} batches" * (len(names) > 1)
        return f"is {times[0]:.4g} times that of the mean over all labels of the group{size}"
    parts = (f"the labels of {name} {factor:.3g} times" for name, factor in zip(names, times, strict=True))
    return f"counts {', '.join(parts)} as much as it should"
