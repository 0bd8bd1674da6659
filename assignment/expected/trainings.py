"""Trainings with a submission's `train_epoch` on a small stand-in for the model, and what they should end with.

No model runs here: each label is a row of two tables, and costs and gradients follow from these in closed form.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import groupby
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from assignment.stand_ins.models import TinyTranslator
from autograder.testing.case import Case, SubmissionUnderTest, filled
from autograder.testing.comparison import (
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    describe,
    difference,
    expect,
    expect_close,
    expect_parts,
)
from autograder.testing.results import CheckFailed

from .search import in_a_row

SIZES = 7, 9, 5
"""Of the small model: source and target vocabulary, d_model."""
PAD = 0
UNCHANGED = "train_epoch changes the values of the model's parameters and adds or removes none"
IN_EVAL_MODE = TinyTranslator(*SIZES).eval().mode()

Batch = dict[str, Tensor]
Shape = tuple[int, int, int]
"""Of a batch: sentences, length, length of all sentences but the first."""


def n_labels(shape: Shape) -> int:
    """How many labels a batch of this shape has."""
    b, t, cut = shape
    return t + (b - 1) * cut


_ALL_SHAPES = [(b, t, cut) for b in range(2, 5) for t in range(3, 8) for cut in range(1, t)]
SHAPES = [[*group] for _, group in groupby(sorted(_ALL_SHAPES, key=n_labels), n_labels)]
"""Those of one group have the same number of labels."""


class Training:
    """A run of the submission's train_epoch, and the result that it should have."""

    def __init__(
        self,
        submission: SubmissionUnderTest,
        case: Case,
        n_batches: int,
        accumulate: int = 1,
        max_grad_norm: float | None = None,
        rate: float = 0.5,
        smoothing: float = 0.1,
        shape: str = "any",
        pad: int = PAD,
        dtype: torch.dtype = torch.float64,
        values: str = "usual",
        has_encoder_mask: bool = False,
        **state: Any,
    ) -> None:
        """Draws parameters and batches; the `state` in which model and batches come is in `stand_ins.models.Run`."""
        self.submission, self.rate, self.smoothing, self.pad, self.dtype = submission, rate, smoothing, pad, dtype
        self.accumulate, self.max_grad_norm, self.state = accumulate, max_grad_norm, state
        self.has_encoder_mask = has_encoder_mask  # which is not the source's
        self.epochs: int = state.get("epochs", 1)
        self.start = [p.detach() for p in TinyTranslator(*SIZES, dtype).parameters()]
        case.randomise(self.start)
        if values == "large losses":  # from large logits alone, and in small steps: the rest stays well conditioned
            self.rate = min(rate, 0.01)
            self.start[2:] = [80 * parameter for parameter in self.start[2:]]
        n_learned = len(self.start) - (state.get("without_gradient") == "the last")
        self.sizes = [parameter.numel() for parameter in self.start[:n_learned]]
        self.n_numbers = sum(self.sizes)
        # No two batches have the same number of labels, whatever the seed: their weights must differ.
        self.batches: list[Batch] = []
        self.is_word: list[Tensor] = []  # of each label, by batch; the others are padding
        shuffled = case.chance.sample(SHAPES, len(SHAPES))
        for number in range(1, n_batches + 1):
            special = {"one sentence": (1, number, number), "many labels": (8 + number, 12, 9), "equal": (3, 4, 4)}
            usual = case.chance.choice(shuffled[number % len(SHAPES)])
            b, t, cut = special.get(shape, usual)
            self.is_word.append(filled(torch.tensor([t] + [cut] * (b - 1)), t))
            self.batches.append(self._draw_batch(case, b, t, cut))

    def _draw_batch(self, case: Case, b: int, t: int, cut: int) -> Batch:
        """A batch of b sentences, one with t labels and the others with `cut`."""
        s = case.size(3, 6)
        src_mask = case.padding_mask(b, s) if b > 1 else case.mask(1, 1, 1, s)
        labels = case.tokens(SIZES[1], b, t)
        labels[0, 0] = 0  # the usual padding, where it is a word like any other
        labels[labels == self.pad] = 1
        labels[1:, cut:] = self.pad
        return {
            "src": case.tokens(SIZES[0], b, s),
            "src_mask": src_mask,
            "encoder_mask": case.mask(b, 1, s, s) if self.has_encoder_mask else src_mask,
            "tgt_input": case.tokens(SIZES[1], b, t),
            "tgt_mask": case.mask(b, 1, t, t),
            "labels": labels,
        }

    @property
    def groups(self) -> list[list[int]]:
        """The numbers of the batches of each step, in all epochs."""
        steps = torch.arange(len(self.batches)) // self.accumulate
        return [(steps == step).nonzero().flatten().tolist() for step in steps.unique()] * self.epochs

    def rate_of(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        return self.rate * (0.5**step if self.state.get("schedule") else 1.0)

    def run(self) -> tuple[list[Any], list[Tensor], int | None, list[str]]:
        """Call train_epoch: losses of the epochs, parameters afterwards, the scheduler's steps, changed settings."""
        returned = self.submission.apply("train", "train.train_epoch", self._described())
        names = "losses", "parameters", "the scheduler's steps", "changed settings"
        losses, parameters, steps, changed = expect_parts(returned, names, "what comes back")
        others = [describe(parameter) for parameter in parameters if not isinstance(parameter, Tensor)]
        expect(not others, "the model's parameters afterwards", "tensors", ", ".join(others)[:200], UNCHANGED)
        return losses, parameters, steps, changed

    def watch(self) -> tuple[str, Sequence[Sequence[Any]]]:
        """Call train_epoch and note the state before each step: see `stand_ins.models.watch_training`."""
        with torch.enable_grad():
            note, steps = self.submission.apply("watch_training", "train.train_epoch", self._described())
        return note, steps

    def _described(self) -> dict[str, Any]:
        options = {"accumulate": self.accumulate, "max_grad_norm": self.max_grad_norm}
        settings = {"rate": self.rate, "pad": self.pad, "smoothing": self.smoothing, "options": options}
        # It may write into these.
        copies = [{name: tensor.clone() for name, tensor in batch.items()} for batch in self.batches]
        return {"start": self.start, "batches": copies, **settings, **self.state}

    def expected(self) -> tuple[list[float], list[Tensor]]:
        """The mean loss of each epoch, and the parameters after descent on the mean over all labels of each group."""
        momentum, decay, without = (self.state.get(key, 0) for key in ("momentum", "weight_decay", "without_gradient"))
        slower = 1 + torch.arange(len(self.sizes)) % self.state.get("parameter_groups", 1)
        slower, place = slower.repeat_interleave(torch.tensor(self.sizes)), in_a_row(self.start).double()
        moved, moving = place[: self.n_numbers], torch.zeros(self.n_numbers).double()
        means: list[float] = []
        for step, group in enumerate(self.groups):
            costs, gradient = self.costs(place, group)
            means += [float(of_batch.mean()) for of_batch in costs]
            moving = momentum * moving + limited(gradient, self.max_grad_norm) + decay * moved
            moved -= self.rate_of(step) / slower * moving
        numbers = place.to(self.dtype).split([parameter.numel() for parameter in self.start])
        spare = [self.start[-1][:3]] if without == "one more" else []
        trained = [own.view_as(parameter) for own, parameter in zip(numbers, self.start, strict=True)]
        return torch.tensor(means, dtype=torch.float64).view(self.epochs, -1).mean(dim=1).tolist(), trained + spare

    def costs(self, place: Tensor, numbers: Sequence[int], **other: Any) -> tuple[Sequence[Tensor], Tensor]:
        """The cost of each label of these batches, and the gradient of their mean, all numbers in a row.

        The place is that of the parameters, likewise; `other` settings are those of `_tables`.
        """
        tables = [self._tables(number, **other) for number in numbers]
        read, aims = (torch.cat(parts) for parts in zip(*tables, strict=True))
        n_vectors, d = sum(SIZES[:2]), SIZES[2]
        vectors, projection, shift = place.split([n_vectors * d, SIZES[1] * d, SIZES[1]])
        vectors, projection = vectors.view(n_vectors, d), projection.view(d, -1)
        state = torch.tanh(read @ vectors.sin())
        scores = 0.4 * torch.addmm(shift, state, projection)
        size = scores.logsumexp(1)
        excess = 0.4 * ((scores - size[:, None]).exp() - aims)
        back = F.linear(excess, projection) * (1 - state * state)
        gradient = in_a_row([read.mT @ back * vectors.cos(), state.mT @ excess, excess.sum(0)]) / len(aims)
        costs = size - torch.linalg.vecdot(aims, scores)
        return costs.split([len(table) for table, _ in tables]), gradient[: self.n_numbers]

    def _tables(
        self, number: int, mode: float = 1.0, smoothing: float | None = None, with_padding: bool = False
    ) -> tuple[Tensor, Tensor]:
        """For each label of a batch how much of each word's vector is read, and which share each word should have.

        Words are those of the source, then of the target, in the first table; those of the target in the second.
        """
        batch, smoothing = self.batches[number], self.smoothing if smoothing is None else smoothing
        n_source, n_target, _ = SIZES
        seen = batch["src_mask"][:, 0] * batch["encoder_mask"].double().mean(dim=(1, 2))[:, None]  # (b, 1, s)
        source = 2 * mode * seen @ F.one_hot(batch["src"], n_source).double() / seen.size(-1)
        target = batch["tgt_mask"][:, 0].double() @ F.one_hot(batch["tgt_input"], n_target).double()
        labels = batch["labels"]
        counts = labels.ge(0) if with_padding else self.is_word[number]
        aims = torch.eye(n_target).double()[labels[counts]]
        read = torch.cat([source.expand(-1, labels.size(1), -1), target], dim=-1)[counts]
        return read, aims.lerp(torch.full_like(aims, 1 / n_target), smoothing)

    def check(self, trained: list[Tensor], label: str, look_at: str) -> None:
        """Fail unless the parameters after training are the expected ones."""
        expected = self.expected()[1]
        shapes = [[tuple(p.shape) for p in several] for several in (expected, trained)]
        expect(shapes[0] == shapes[1], f"{label}: its parameters", f"{shapes[0]}", f"{shapes[1]}"[:200], UNCHANGED)
        # Some bits less than float32 has, as under autocast, show with every seed.
        tolerance = TOLERANCE if self.dtype == torch.float64 else TOLERANCE_OF_FLOAT32 / 20
        for index, (actual, wanted) in enumerate(zip(trained, expected, strict=True)):
            expect_close(actual, wanted, f"{label}: parameter {index + 1}", look_at, tolerance)

    def is_wrong_as_ever(self, trained: list[Tensor]) -> bool:
        """Return True if the steps are wrong in an ordinary training as well, which ends with the same parameters.

        Then the mode that the model is in, a generator and the dtype have made no difference. A mask of the encoder's
        own must make one.
        """
        ordinary = copy(self)
        ordinary.dtype, ordinary.start = torch.float64, [parameter.double() for parameter in self.start]
        ordinary.state = {"epochs": self.epochs}
        ordinary.batches = [batch | {"encoder_mask": batch["src_mask"]} for batch in self.batches]
        usual, is_right = ordinary.end()
        if is_right:
            return False
        changes, has_learned = (
            max(difference(x.double(), y.double()) for x, y in zip(trained, others, strict=True)) > TOLERANCE_OF_FLOAT32
            for others in (usual, self.start)
        )
        return has_learned and changes is self.has_encoder_mask

    def accumulates(self) -> bool:
        """Return True if each group of batches is one step where nothing is clipped and the rate stays the same."""
        ordinary = copy(self)
        ordinary.max_grad_norm, ordinary.state = None, {"epochs": self.epochs}
        return ordinary.end()[1]

    def end(self) -> tuple[list[Tensor], bool]:
        """Call train_epoch; return the parameters afterwards, and whether they are the expected ones."""
        _, trained, *_ = self.run()
        with suppress(CheckFailed):
            self.check(trained, "", "")
            return trained, True
        return trained, False

    def traits(self) -> Iterator[str]:
        """Yield what may separate this training from others, in words."""
        yield "where batches accumulate" if self.accumulate > 1 else "where each batch has its own step"
        yield f"with {'an' if len(self.batches) % self.accumulate else 'no'} incomplete last group"
        yield f"with{'out' * (self.max_grad_norm is None)} max_grad_norm"
        yield f"with{'out' * ('schedule' not in self.state)} a scheduler"
        yield f"where the model comes in {'train' if self.state.get('is_training', True) else 'eval'} mode"
        yield "over several epochs" if self.epochs > 1 else "in a single epoch"
        traits = {
            "where a parameter has no gradient": "without_gradient" in self.state,
            "where gradients are left from before": "old_gradients" in self.state,
            "where padding is not 0": self.pad != PAD,
            "where the encoder has a mask of its own": self.has_encoder_mask,
        }
        yield from (text for text, is_so in traits.items() if is_so)


def limited(gradient: Tensor, most: float | None) -> Tensor:
    """A gradient whose norm is limited; None = no limit."""
    return gradient if most is None else gradient[None].renorm(2, 0, most)[0]
