"""Task 3.1: one pass over the batches, on a small stand-in for the model."""

from typing import Any

import pytest
import torch

from autograder.assignment.checks.situations.sizes_in_code import numbers_tried
from autograder.assignment.checks.trainings import COMPONENT, MOST_BATCHES, OPTIMIZERS, PAD, Training, train_in_turn
from autograder.testing.case import Case
from autograder.testing.comparison import (
    TOLERANCE,
    TOLERANCE_OF_FLOAT32,
    Failures,
    describe,
    expect,
    expect_close,
)
from autograder.testing.covering import Covering, Either
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_3_1


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
