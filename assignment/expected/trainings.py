"""Trainings with a submission's `train_epoch` on a small stand-in for the model, and what they should end with."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from assignment.stand_ins.models import TinyTranslator
from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    expect,
    expect_close,
    expect_parts,
)
from autograder.testing.experiments import attempted
from autograder.testing.submission import SubmissionUnderTest
from foundation.texts import printable

from .steps import SIZES, copy_of, first_deviation, summed_loss

PAD, LONGEST_NOTE = 0, 200

Shape = tuple[int, int, int]
"""Of a batch: sentences, length, length of all sentences but the first."""


def shapes_by_labels() -> list[list[Shape]]:
    """Shapes of batches; those of one group have the same number of labels."""
    groups: dict[int, list[Shape]] = {}
    for b in range(2, 5):
        for t in range(3, 8):
            for cut in range(1, t):
                groups.setdefault(t + (b - 1) * cut, []).append((b, t, cut))
    return [groups[n_labels] for n_labels in sorted(groups)]


SHAPES = shapes_by_labels()
OPTIMIZERS = {
    "plain": {"momentum": 0.0, "weight_decay": 0.0},
    "with momentum": {"momentum": 0.5, "weight_decay": 0.1},
}
"""Settings of stochastic gradient descent."""


class Training:
    """A run of the submission's train_epoch, and the result that it should have."""

    def __init__(
        self,
        submission: SubmissionUnderTest,
        case: Case,
        n_batches: int,
        rate: float = 0.5,
        smoothing: float = 0.1,
        shape: str = "any",
        pad: int = PAD,
        dtype: torch.dtype = torch.float64,
        values: str = "usual",
    ) -> None:
        self.submission, self.rate, self.smoothing, self.pad = submission, rate, smoothing, pad
        self.dtype = dtype
        self.start = [p.detach() for p in TinyTranslator(*SIZES, dtype).parameters()]
        case.randomise(self.start)
        self.n_numbers = sum(parameter.numel() for parameter in self.start)
        if values == "large losses":  # from large logits alone, and in small steps: the rest stays well conditioned
            self.rate = min(rate, 0.01)
            self.start[2:] = [80 * parameter for parameter in self.start[2:]]
        # No two batches have the same number of labels, whatever the seed: their weights must differ.
        chosen = case.sizes(n_batches, 0, len(SHAPES) - 1)
        self.batches = []
        for number, index in enumerate(chosen, start=1):
            b, t, cut = case.choose(SHAPES[index])
            special = {"one sentence": (1, number, number), "many labels": (8 + number, 12, 9), "equal": (3, 4, 4)}
            self.batches.append(self.draw_batch(case, *special.get(shape, (b, t, cut))))

    def draw_batch(self, case: Case, b: int, t: int, cut: int) -> dict[str, Tensor]:
        """A batch of b sentences, one with t labels and the others with `cut`."""
        s = case.size(3, 6)
        labels = case.tokens(SIZES[1], b, t)
        labels[0, 0] = 0  # the usual padding, where it is a word like any other
        labels[labels == self.pad] = 1
        labels[1:, cut:] = self.pad
        return {
            "src": case.tokens(SIZES[0], b, s),
            "src_mask": case.padding_mask(b, s) if b > 1 else case.mask(1, 1, 1, s),
            "encoder_mask": case.mask(b, 1, s, s),
            "tgt_input": case.tokens(SIZES[1], b, t),
            "tgt_mask": case.mask(b, 1, t, t),
            "labels": labels,
        }

    def run(self, options: dict[str, Any], **how: Any) -> tuple[list[Any], list[Tensor], int | None, list[str]]:
        """Calls train_epoch.

        Args:
            options: its arguments beside those that each run has.
            how: in what state it gets model and batches, as `stand_ins.train` takes it.

        Returns:
            The losses of the epochs, the parameters afterwards, the scheduler's steps, and changed settings.
        """
        found = self.submission.apply("train", "train.train_epoch", self._described(options, how))
        names = "losses", "parameters", "the scheduler's steps", "changed settings"
        losses, parameters, steps, changed = expect_parts(found, names, "what comes back")
        return losses, parameters, steps, changed

    def _described(self, options: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
        settings = {"rate": self.rate, "pad": self.pad, "smoothing": self.smoothing, "options": options}
        # It may write into these.
        copies = [{name: tensor.clone() for name, tensor in batch.items()} for batch in self.batches]
        return {"start": self.start, "batches": copies, **settings, **how}

    def observe(self, options: dict[str, Any], how: dict[str, Any]) -> str:
        """Says in one line where a training of this kind first does something else than it should; "" = nowhere."""
        run = self._described(options, how)
        if how.get("without_gradient") == "the last":
            self.n_numbers -= self.start[-1].numel()

        def find() -> str:
            with torch.enable_grad():
                notes, steps = self.submission.apply("watch_training", "train.train_epoch", run)
            told = printable(str(notes[0]), LONGEST_NOTE) if notes else ""  # comes from where the submission runs
            return told or first_deviation(self, options, how, steps)

        return attempted(find)

    def expected(
        self,
        group: int = 1,
        max_norm: float | None = None,
        factors: list[float] | None = None,
        epochs: int = 1,
        parameter_groups: int = 1,
        optimizer: str = "plain",
        without_gradient: str = "",
    ) -> tuple[list[float], list[Tensor]]:
        """The mean loss of each epoch, and the parameters after descent on the mean over all labels of each group."""
        learned = self.start[:-1] if without_gradient == "the last" else self.start
        momentum, decay = OPTIMIZERS[optimizer]["momentum"], OPTIMIZERS[optimizer]["weight_decay"]
        moving = [torch.zeros_like(value, dtype=torch.float64) for value in learned]
        copy = copy_of(self.start)
        starts = range(0, len(self.batches), group)
        all_losses: list[float] = []
        for step, first in enumerate([*starts] * epochs):
            total, count = torch.zeros((), dtype=torch.float64), 0
            for batch in self.batches[first : first + group]:
                summed, here = summed_loss(copy, batch, self.pad, self.smoothing)
                all_losses.append(float(summed.detach()) / here)
                total, count = total + summed, count + here
            parameters = list(copy.parameters())[: len(learned)]
            gradients = torch.autograd.grad(total / count, parameters)
            norm = torch.sqrt(torch.stack([gradient.square().sum() for gradient in gradients]).sum())
            scale = 1.0 if max_norm is None else min(1.0, max_norm / float(norm))
            rate = self.rate * (factors[step] if factors else 1.0)
            with torch.no_grad():
                for index, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
                    moving[index] = momentum * moving[index] + scale * gradient + decay * parameter
                    parameter.sub_(rate / (1 + index % parameter_groups) * moving[index])
        means = torch.tensor(all_losses, dtype=torch.float64).view(epochs, -1).mean(dim=1).tolist()
        spare = [torch.ones(3, dtype=self.dtype)] if without_gradient == "one more" else []
        return means, [p.detach().to(self.dtype) for p in copy.parameters()] + spare

    def about_mean(self, found: list[float]) -> str:
        """Says what the first epoch's loss is in place of the mean, where no step changes the parameters."""
        with torch.no_grad():
            model = copy_of(self.start)
            summed = [summed_loss(model, batch, self.pad, self.smoothing) for batch in self.batches]
        losses, counts = [float(one) / count for one, count in summed], [count for _, count in summed]
        others = {
            "the sum of the batches' losses": sum(losses),
            "the last batch's loss": losses[-1],
            "the first batch's loss": losses[0],
            "the mean over all labels": sum(float(one) for one, _ in summed) / sum(counts),
            "the sum over all labels": sum(float(one) for one, _ in summed),
        }
        return next((f"this is {text}" for text, one in others.items() if abs(one - found[0]) < 1e-6 * abs(one)), "")

    def check(self, found: list[Tensor], expected: list[Tensor], what: str, look_at: str) -> None:
        """Fails unless the parameters after training are the expected ones."""
        shapes = [[tuple(p.shape) for p in several] for several in (expected, found)]
        unchanged = "train_epoch changes the values of the model's parameters and adds or removes none"
        expect(shapes[0] == shapes[1], f"{what}: its parameters", f"{shapes[0]}", f"{shapes[1]}"[:200], unchanged)
        # Some bits less than float32 has, as under autocast, show with every seed.
        tolerance = TOLERANCE if self.dtype == torch.float64 else TOLERANCE_OF_FLOAT32 / 20
        for index, (actual, wanted) in enumerate(zip(found, expected, strict=True)):
            expect_close(actual, wanted, f"{what}: parameter {index + 1}", look_at, tolerance)


def traits_of(settings: dict[str, Any], options: dict[str, Any], how: dict[str, Any]) -> Iterator[str]:
    """What may separate a training from others, in words."""
    n_batches, n = settings["n_batches"], options["accumulate"]
    yield "where batches accumulate" if n > 1 else "where each batch has its own step"
    yield f"with {'an' if n_batches % n else 'no'} incomplete last group"
    yield f"with{'out' * (options['max_grad_norm'] is None)} max_grad_norm"
    yield f"with{'out' * ('schedule' not in how)} a scheduler"
    yield (
        "where the model comes in train mode" if how.get("is_training", True) else "where the model comes in eval mode"
    )
    yield "over several epochs" if how["epochs"] > 1 else "in a single epoch"
    yield from ("where a parameter has no gradient" for _ in range("without_gradient" in how))
    yield from ("where gradients are left from before" for _ in range(how.get("old_gradients", False)))
    yield from ("where padding is not 0" for _ in range("pad" in settings))
