"""Task 3.1: one pass over the batches, on a small stand-in for the model."""

from itertools import cycle, islice
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.assignment.checks.sizes_in_code import numbers_tried
from autograder.assignment.stand_ins.arguments import TinyTranslator
from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    Failures,
    describe,
    expect,
    expect_close,
    expect_parts,
)
from autograder.testing.covering import Covering, Either
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_3_1

COMPONENT = "train.train_epoch"
PAD, SRC_VOCAB, TGT_VOCAB, D_MODEL = 0, 7, 9, 5


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
MOST_BATCHES = 100
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
        self.start = [p.detach() for p in TinyTranslator(SRC_VOCAB, TGT_VOCAB, D_MODEL, dtype).parameters()]
        case.randomise(self.start)
        if values == "large losses":  # from large logits alone, and in small steps: the rest stays well conditioned
            self.rate = 0.01
            self.start[2:] = [80 * parameter for parameter in self.start[2:]]
        # No two batches have the same number of labels, whatever the seed: their weights must differ.
        chosen = [*islice(cycle(case.sizes(min(n_batches, len(SHAPES)), 0, len(SHAPES) - 1)), n_batches)]
        self.batches = []
        for number, index in enumerate(chosen, start=1):
            b, t, cut = case.choose(SHAPES[index])
            sizes = {"one token": (number, 1, 1), "many labels": (8 + number, 12, 9)}.get(shape, (b, t, cut))
            self.batches.append(self.draw_batch(case, *sizes, shape))

    def draw_batch(self, case: Case, b: int, t: int, cut: int, shape: str) -> dict[str, Tensor]:
        """A batch of b sentences, one with t labels and the others with `cut`."""
        b = 1 if shape == "one sentence" else b
        s = t if shape == "s = t" else 1 if shape == "one token" else case.size(3, 6)
        labels = case.tokens(TGT_VOCAB, b, t)
        labels[0, 0] = 0  # the usual padding, where it is a word like any other
        labels[labels == self.pad] = 1
        labels[1:, cut:] = self.pad
        return {
            "src": case.tokens(SRC_VOCAB, b, s),
            "src_mask": case.padding_mask(b, s) if b > 1 else case.mask(1, 1, 1, s),
            "encoder_mask": case.mask(b, 1, s, s),
            "tgt_input": case.tokens(TGT_VOCAB, b, t),
            "tgt_mask": case.mask(b, 1, t, t),
            "labels": labels,
        }

    def run(self, how: dict[str, Any] | None = None, **options: Any) -> tuple[Any, list[Tensor]]:
        """Calls train_epoch with these options, and `how` as `stand_ins.train` takes it; the result and parameters."""
        [(losses, parameters, *_)] = train_in_turn(self.submission, [self.described(options, **how or {})])
        return losses[-1], parameters

    def described(self, options: dict[str, Any], **how: Any) -> dict[str, Any]:
        """As `stand_ins.train` takes it."""
        settings = {"rate": self.rate, "pad": self.pad, "smoothing": self.smoothing}
        return {"start": self.start, "batches": self.batches, **settings, "options": options, **how}

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
        copy = TinyTranslator(SRC_VOCAB, TGT_VOCAB, D_MODEL).train()
        with torch.no_grad():
            for parameter, value in zip(copy.parameters(), self.start, strict=True):
                parameter.copy_(value)
        starts = range(0, len(self.batches), group)
        all_losses: list[float] = []
        for step, first in enumerate([*starts] * epochs):
            total, count = torch.zeros((), dtype=torch.float64), 0
            for batch in self.batches[first : first + group]:
                read = copy.encode(batch["src"], batch["encoder_mask"])[0]
                states = copy.decode(batch["tgt_input"], read, batch["src_mask"], batch["tgt_mask"])[0]
                said = copy.get_predictions(states).reshape(-1, TGT_VOCAB)
                labels = batch["labels"].reshape(-1)
                summed = F.cross_entropy(
                    said, labels, ignore_index=self.pad, label_smoothing=self.smoothing, reduction="sum"
                )
                here = int((labels != self.pad).sum())
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

    def check(self, found: list[Tensor], expected: list[Tensor], what: str, look_at: str) -> None:
        """Fails unless the parameters after training are the expected ones."""
        shapes = [[tuple(p.shape) for p in several] for several in (expected, found)]
        unchanged = "train_epoch changes the values of the model's parameters and adds or removes none"
        expect(shapes[0] == shapes[1], f"{what}: its parameters", f"{shapes[0]}", f"{shapes[1]}"[:200], unchanged)
        tolerance = TOLERANCE if self.dtype == torch.float64 else TOLERANCE_OF_FLOAT32
        for index, (actual, wanted) in enumerate(zip(found, expected, strict=True)):
            expect_close(actual, wanted, f"{what}: parameter {index + 1}", look_at, tolerance)


def train_in_turn(
    submission: SubmissionUnderTest, runs: list[dict[str, Any]]
) -> list[tuple[list[Any], list[Tensor], int | None, list[str]]]:
    """What `stand_ins.train` returns for each run."""
    found = submission.apply("train_in_turn", submission.function(COMPONENT), runs)
    several = expect_parts(found, [f"run {number + 1}" for number in range(len(runs))], "what comes back")
    names = "losses", "parameters", "the scheduler's steps", "changed settings"
    return [tuple(expect_parts(one, names, "what comes back")) for one in several]


@pytest.mark.core
def test_parameters_after_an_epoch(submission: SubmissionUnderTest, case: Case) -> None:
    training = Training(submission, case, n_batches=3)
    _, found = training.run()
    look_at = (
        "train mode; encode with encoder_mask, decode tgt_input with src_mask and tgt_mask, compare the predictions "
        "with the labels; clear the gradients, backward, one step for each batch"
    )
    training.check(found, training.expected()[1], "after three batches", look_at)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_mean_loss_is_returned(submission: SubmissionUnderTest, case: Case, accumulate: int) -> None:
    # Nothing is learned here: steps of a wrong size are for other tests to find.
    training = Training(submission, case, n_batches=case.size(3, 5), rate=0.0)
    loss, _ = training.run(accumulate=accumulate)
    expect(isinstance(loss, float), "what train_epoch returns", "a Python float", describe(loss), "loss.item()")
    wanted = torch.tensor(training.expected(group=accumulate)[0][-1], dtype=torch.float64)
    look_at = "the mean of the batches' losses, each as the criterion returns it"
    expect_close(torch.tensor(loss, dtype=torch.float64), wanted, "the returned loss", look_at)


def test_train_mode(submission: SubmissionUnderTest, case: Case) -> None:
    training = Training(submission, case, n_batches=1)
    loss, found = training.run({"is_training": False})
    expect(isinstance(loss, float), "what train_epoch returns", "a Python float", describe(loss), "loss.item()")
    training.check(found, training.expected()[1], "a model that was in eval mode", "model.train()")


def test_old_gradients_are_cleared(submission: SubmissionUnderTest, case: Case) -> None:
    training = Training(submission, case, n_batches=1)
    _, found = training.run({"stale": True})
    look_at = "gradients add up: clear them before each group of batches, the first one too"
    training.check(found, training.expected()[1], "a model with old gradients", look_at)


@pytest.mark.parametrize("accumulate, n_batches", [(2, 4), (2, 5), (3, 2)])
def test_accumulation_equals_one_large_batch(
    submission: SubmissionUnderTest, case: Case, accumulate: int, n_batches: int
) -> None:
    training = Training(submission, case, n_batches, pad=5 if n_batches == 5 else PAD)
    _, found = training.run(accumulate=accumulate)
    look_at = "weight each batch by its share of the group's labels other than padding; the last group makes a step too"
    wanted = training.expected(group=accumulate)[1]
    training.check(found, wanted, f"{n_batches} batches with accumulate={accumulate}", look_at)


def test_clipping(submission: SubmissionUnderTest, case: Case) -> None:
    training = Training(submission, case, n_batches=3)
    max_norm = case.number(0.01, 0.03)
    _, found = training.run(max_grad_norm=max_norm, accumulate=2)
    look_at = "clip the norm of the whole group's gradient, after backward and before the step"
    wanted = training.expected(group=2, max_norm=max_norm)[1]
    training.check(found, wanted, f"max_grad_norm = {max_norm:.4f}", look_at)


def test_small_gradients_are_not_clipped(submission: SubmissionUnderTest, case: Case) -> None:
    training = Training(submission, case, n_batches=2)
    _, found = training.run(max_grad_norm=1000.0)
    look_at = "a gradient whose norm is below max_grad_norm stays unchanged"
    training.check(found, training.expected()[1], "max_grad_norm = 1000", look_at)


def test_scheduler_steps_after_each_step_of_the_optimizer(submission: SubmissionUnderTest, case: Case) -> None:
    training = Training(submission, case, n_batches=5)
    _, found = training.run({"schedule": True}, accumulate=2)
    look_at = "one scheduler.step() after each optimizer.step(), not after each batch, and not only at the end"
    wanted = training.expected(group=2, factors=[1.0, 0.5, 0.25])[1]
    training.check(found, wanted, "with a scheduler that halves the rate", look_at)


def test_batches_that_can_be_read_once(submission: SubmissionUnderTest, case: Case) -> None:
    training = Training(submission, case, n_batches=3)
    _, found = training.run({"in_one_pass": True})
    look_at = "go through the batches once, without len() and without an index"
    training.check(found, training.expected()[1], "batches from a generator", look_at)


GROUPS: dict[str, Any] = {
    "accumulate": 2,
    "n_batches": 3,
    "max_grad_norm": 0.02,
    "in_one_pass": False,
    "dtype": torch.float64,
}
"""Levels at which batches, groups and steps differ in number."""
SITUATIONS = Covering(
    {
        "accumulate": (1, Either(2, 7)),
        "n_batches": (1, 2, 3),
        "max_grad_norm": (None, Either(0.02, 1000.0)),
        "shape": ("one sentence", "one token", "s = t"),
        "schedule": (True, False),
        "smoothing": (0.1, 0.0),
        "pad": (PAD, Either(5, -100)),
        "is_training": (True, False),
        "is_mixed": (False, True),
        "in_one_pass": (True, False),
        "parameter_groups": (1, Either(2, 3)),
        "optimizer": ("plain", "with momentum"),
        "without_gradient": ("", Either("the last", "one more")),
        "dtype": (torch.float64, torch.float32),
        "values": ("usual",),
    },
    [
        {"max_grad_norm": 0.0},
        GROUPS | {"shape": "one token", "is_training": False, "parameter_groups": 1},
        GROUPS | {"shape": "one sentence", "is_training": True, "parameter_groups": 2},
        GROUPS | {"shape": "s = t", "is_training": False},
        GROUPS | {"shape": "s = t", "accumulate": 7},
        GROUPS | {"n_batches": 4, "schedule": True, "parameter_groups": 3},
        GROUPS | {"n_batches": 5, "accumulate": 7, "shape": "many labels", "smoothing": 0.0},
        GROUPS | {"values": "large losses", "max_grad_norm": 10.0},
        GROUPS | {"shape": "s = t", "pad": -100, "smoothing": 0.0},
        *(GROUPS | {"without_gradient": which, "max_grad_norm": 0.02} for which in ("the last", "one more")),
    ],
)


HOW = ("is_training", "is_mixed", "in_one_pass", "schedule", "parameter_groups", "without_gradient")
"""Levels that `stand_ins.train` takes as they are."""


def batches_by_numbers(submission: SubmissionUnderTest, case: Case) -> list[dict[str, Any]]:
    """Rows with as many batches, and as many in a group, as a number in the code says, and one more."""
    chosen = numbers_tried(submission, case, COMPONENT, most=MOST_BATCHES)
    sizes = [(batches, group) for n in chosen for batches, group in ((n + 1, 1), (n + 2, n), (n + 2, n + 1))]
    return [GROUPS | {"n_batches": batches, "accumulate": group} for batches, group in sizes]


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    rows, trainings, runs = SITUATIONS.rows(case, batches_by_numbers(submission, case)), [], []
    for row in rows:
        named = {name: row[name] for name in ("shape", "smoothing", "pad", "dtype", "values")}
        trainings.append(Training(submission, case, row["n_batches"], **named))
        options = {"accumulate": row["accumulate"], "max_grad_norm": row["max_grad_norm"]}
        how = {name: row[name] for name in HOW}
        runs.append(trainings[-1].described(options, epochs=2, **OPTIMIZERS[row["optimizer"]], **how))
    failures = Failures()
    for row, training, ended in zip(rows, trainings, train_in_turn(submission, runs), strict=True):
        losses, found, steps, changed = ended
        with failures.noted():
            factors = [0.5**step for step in range(2 * row["n_batches"])] if row["schedule"] else None
            settings = row["accumulate"], row["max_grad_norm"], factors
            others = row["parameter_groups"], row["optimizer"], row["without_gradient"]
            wanted_losses, wanted = training.expected(*settings, 2, *others)
            what = ", ".join(f"{name} = {value}" for name, value in row.items())
            look_at = "two epochs, with the same model, optimizer, scheduler and batches; each as the other tests say"
            training.check(found, wanted, f"two epochs with {what}", look_at)
            if row["schedule"]:
                groups = 2 * -(-row["n_batches"] // row["accumulate"])
                counted = f"the scheduler's steps in two epochs with {what}"
                expect(steps == groups, counted, f"{groups}", f"{steps}", "one for each group of batches")
            given = f"the arguments' settings after two epochs with {what}"
            kept = "train_epoch changes nothing about its arguments but what the steps change"
            expect(changed == [], given, "all as they were", f"{changed} differ"[:200], kept)
            for loss in losses:
                returned = f"what train_epoch returns with {what}"
                expect(isinstance(loss, float), returned, "a Python float", describe(loss), "loss.item()")
            tolerance = TOLERANCE if row["dtype"] == torch.float64 else TOLERANCE_OF_FLOAT32
            got, expected = (torch.tensor(several, dtype=torch.float64) for several in (losses, wanted_losses))
            expect_close(got, expected, f"the losses of two epochs with {what}", look_at, tolerance)
    failures.raise_first()
