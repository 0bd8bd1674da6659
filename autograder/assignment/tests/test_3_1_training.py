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

FORWARD = (
    "train mode; encode with encoder_mask, decode tgt_input with src_mask and tgt_mask, compare the predictions with "
    "the labels; clear the gradients, backward, one step for each batch"
)
MEAN = "weight each batch by its share of the group's labels other than padding; the last group makes a step too"
CLIP = "clip the norm of the whole group's gradient over all parameters, after backward and before the step"
SCHEDULER = "one scheduler.step() after each optimizer.step(), not after each batch, and not only at the end"
ORDINARY: dict[str, Any] = {"n_batches": 3, "accumulate": 1, "max_grad_norm": None, "epochs": 1}
CASES: dict[str, tuple[str, dict[str, Any], str]] = {  # rubric item, what is not ordinary, where to look
    "three batches": ("forward, backward, step", {"epochs": 2}, FORWARD),
    "one sentence a batch": ("forward, backward, step", {"shape": "one sentence"}, FORWARD),
    "one token a sentence": ("forward, backward, step", {"shape": "one token"}, FORWARD),
    "equal lengths": ("forward, backward, step", {"shape": "s = t"}, FORWARD),
    "momentum and weight decay": (
        "forward, backward, step",
        {"optimizer": "with momentum", "epochs": 2},
        "use the optimizer's step",
    ),
    "float32": ("forward, backward, step", {"dtype": torch.float32}, FORWARD),
    "no label smoothing": ("forward, backward, step", {"smoothing": 0.0}, "the criterion is given, with its smoothing"),
    "large losses": ("forward, backward, step", {"values": "large losses", "max_grad_norm": 10.0}, FORWARD),
    "a model in eval mode": (
        "modes and old gradients",
        {"is_training": False, "epochs": 2},
        "model.train(), at each call",
    ),
    "a part in eval mode": ("modes and old gradients", {"is_mixed": True}, "model.train() reaches every part"),
    "old gradients": (
        "modes and old gradients",
        {"stale": True, "epochs": 1},
        "clear them before the first group, too",
    ),
    "a generator": (
        "modes and old gradients",
        {"in_one_pass": True, "epochs": 1},
        "read the batches once, without len()",
    ),
    "2 of 4 batches": ("accumulation", {"accumulate": 2, "n_batches": 4}, MEAN),
    "2 of 5 batches, other padding": ("accumulation", {"accumulate": 2, "n_batches": 5, "pad": 5}, MEAN),
    "3 of 2 batches": ("accumulation", {"accumulate": 3, "n_batches": 2}, MEAN),
    "sixty batches": ("accumulation", {"n_batches": 60, "shape": "one token"}, FORWARD),
    "7 of 5 batches with many labels": (
        "accumulation",
        {"accumulate": 7, "n_batches": 5, "shape": "many labels"},
        MEAN,
    ),
    "ignore_index -100": ("accumulation", {"accumulate": 2, "pad": -100, "smoothing": 0.0}, MEAN),
    "clipping": ("clipping and scheduler", {"accumulate": 2, "max_grad_norm": 0.02}, CLIP),
    "clipping a group of eight": ("clipping and scheduler", {"accumulate": 8, "max_grad_norm": 0.02}, CLIP),
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
        "a norm below max_grad_norm stays as it is",
    ),
    "a scheduler": ("clipping and scheduler", {"schedule": True, "accumulate": 2, "n_batches": 5}, SCHEDULER),
    "a scheduler, no incomplete group": (
        "clipping and scheduler",
        {"schedule": True, "accumulate": 2, "n_batches": 4, "epochs": 2},
        SCHEDULER,
    ),
    "a scheduler, three groups of parameters": (
        "clipping and scheduler",
        {"schedule": True, "parameter_groups": 3},
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
@pytest.mark.parametrize("name", ["three batches", "2 of 5 batches, other padding", "float32", "large losses"])
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
    expect_close(got, expected, "the returned losses of two epochs", look_at, tolerance)
