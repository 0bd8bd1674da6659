"""Task 3.1: one pass over the batches, on a small stand-in for the model.

`Training` describes a run of `train_epoch` and works out what it should end with, by gradient descent on the mean over
all labels of each group of batches.
"""

from typing import Any

import pytest
import torch

from autograder.assignment.expected.trainings import OPTIMIZERS, Training
from autograder.testing.case import Case
from autograder.testing.comparison import TOLERANCE, TOLERANCE_OF_FLOAT32, describe, expect, expect_close
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_3_1

FORWARD = "go through one batch by hand: mode, masks, what is predicted from what, gradients, step"
MEAN = "which mean does the docstring promise for a group, and what happens to batches that are left at the end?"
CLIP = "of which gradient is the norm limited, and at which point?"
SCHEDULER = "how often does the scheduler step, and when? (the docstring says)"
ORDINARY: dict[str, Any] = {"n_batches": 3, "accumulate": 1, "max_grad_norm": None, "epochs": 1}
# Of each case: the rubric item, what is not ordinary (arguments of `Training`, of train_epoch, and of the stand-in
# `train`, which says what each means), and where to look.
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "three batches": ("forward, backward, step", {"epochs": 2}, FORWARD),
    "one sentence a batch": ("forward, backward, step", {"shape": "one sentence"}, FORWARD),
    "momentum and weight decay": (
        "forward, backward, step",
        {"optimizer": "with momentum", "epochs": 2},
        "who changes the parameters?",
    ),
    "float32": ("forward, backward, step", {"dtype": torch.float32}, FORWARD),
    "a model in eval mode": (
        "modes and old gradients",
        {"is_training": False, "epochs": 2},
        "in which mode does the model train, however it comes?",
    ),
    "a part in eval mode": (
        "modes and old gradients",
        {"is_mixed": True},
        "in which mode does each part of the model train?",
    ),
    "old gradients": (
        "modes and old gradients",
        {"old_gradients": True},
        "which gradients are there before the first batch?",
    ),
    "a generator": (
        "modes and old gradients",
        {"as_generator": True},
        "how often, and how, are the batches read? they may be a generator",
    ),
    "2 of 5 batches, other padding": ("accumulation", {"accumulate": 2, "n_batches": 5, "pad": 5}, MEAN),
    "7 of 5 batches with many labels": (
        "accumulation",
        {"accumulate": 7, "n_batches": 5, "shape": "many labels"},
        MEAN,
    ),
    "ignore_index -100": ("accumulation", {"accumulate": 2, "pad": -100, "smoothing": 0.0}, MEAN),
    "large losses": (
        "clipping and scheduler",
        {"values": "large losses"},
        "what happens to large losses, and to large gradients where max_grad_norm is None?",
    ),
    "clipping": ("clipping and scheduler", {"accumulate": 2, "max_grad_norm": 0.02, "shape": "equal"}, CLIP),
    "clipping a group of eight": (
        "clipping and scheduler",
        {"accumulate": 8, "max_grad_norm": 0.02, "shape": "equal"},
        CLIP,
    ),
    "clipping two groups of parameters": (
        "clipping and scheduler",
        {"max_grad_norm": 0.02, "parameter_groups": 2},
        CLIP,
    ),
    "clipping with a frozen parameter": (
        "clipping and scheduler",
        {"max_grad_norm": 0.02, "without_gradient": "the last"},
        CLIP,
    ),
    "clipping with an unused parameter": (
        "clipping and scheduler",
        {"max_grad_norm": 0.02, "without_gradient": "one more"},
        CLIP,
    ),
    "small gradients": (
        "clipping and scheduler",
        {"max_grad_norm": 1000.0},
        "what happens to a gradient that is short enough?",
    ),
    "a scheduler": (
        "clipping and scheduler",
        {"schedule": True, "accumulate": 2, "n_batches": 5, "max_grad_norm": 0.02, "shape": "equal"},
        SCHEDULER,
    ),
    "a scheduler, no incomplete group": (
        "clipping and scheduler",
        {"schedule": True, "accumulate": 2, "n_batches": 4, "epochs": 2, "shape": "equal"},
        SCHEDULER,
    ),
}


def described(name: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Of a case: settings of the training, arguments of train_epoch, and in what state it gets model and batches."""
    row = ORDINARY | CASES[name][1]
    names = ["n_batches", "shape", "smoothing", "pad", "dtype", "values"]
    settings = {key: row.pop(key) for key in names if key in row}
    options = {key: row.pop(key) for key in ("accumulate", "max_grad_norm")}
    return settings, options, row


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.item(CASES[name][0])) for name in CASES])
def test_training(submission: SubmissionUnderTest, case: Case, name: str) -> None:
    settings, options, how = described(name)
    optimizer, epochs = how.pop("optimizer", "plain"), how["epochs"]
    training = Training(submission, case, **settings)
    losses, found, steps, changed = training.run(options, **OPTIMIZERS[optimizer], **how)
    n_steps = epochs * -(-settings["n_batches"] // options["accumulate"])
    factors = [0.5**step for step in range(n_steps)] if "schedule" in how else None
    others = how.get("parameter_groups", 1), optimizer, how.get("without_gradient", "")
    _, wanted = training.expected(options["accumulate"], options["max_grad_norm"], factors, epochs, *others)
    look_at = CASES[name][2]
    training.check(found, wanted, f"after training: {name}", look_at)
    if "schedule" in how:
        expect(steps == n_steps, "the scheduler's steps", f"{n_steps}", f"{steps}", SCHEDULER)
    kept = "train_epoch changes nothing about its arguments but what the steps change"
    expect(changed == [], "the arguments' settings afterwards", "as they were", f"{changed} differ"[:200], kept)


@pytest.mark.item("returned loss")
@pytest.mark.parametrize("name", ["2 of 5 batches, other padding", "large losses"])
def test_mean_loss_is_returned(submission: SubmissionUnderTest, case: Case, name: str) -> None:
    settings, options, how = described(name)
    training = Training(submission, case, rate=0.0, **settings)  # nothing is learned: steps are for other tests
    losses, *_ = training.run(options, **how)
    wanted, _ = training.expected(options["accumulate"], epochs=how["epochs"])
    for loss in losses:
        expect(isinstance(loss, float), "what train_epoch returns", "a Python float", describe(loss), "loss.item()")
    tolerance = TOLERANCE_OF_FLOAT32 if settings.get("dtype") == torch.float32 else TOLERANCE
    got, expected = (torch.tensor(several, dtype=torch.float64) for several in (losses, wanted))
    look_at = "the mean of the batches' losses, each as the criterion returns it"
    expect_close(got, expected, "the returned losses", look_at, tolerance)
