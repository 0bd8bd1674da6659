"""Task 3.1: one pass over the batches, on a small stand-in for the model.

`Training` describes a run of `train_epoch` and works out what it should end with, by gradient descent on the mean over
all labels of each group of batches.
"""

from functools import partial
from typing import Any

import pytest
import torch

from assignment.expected.trainings import OPTIMIZERS, Training, traits_of
from autograder.testing.case import Case
from autograder.testing.comparison import TOLERANCE, TOLERANCE_OF_FLOAT32, describe, expect, expect_close
from autograder.testing.contrast import judged
from autograder.testing.results import observing
from autograder.testing.submission import SubmissionUnderTest

pytestmark = pytest.mark.task_3_1

FORWARD = "go through one batch by hand: mode, masks, what is predicted from what, gradients, step"
MEAN = "which mean does the docstring promise for a group, and what happens to batches that are left at the end?"
CLIP = "of which gradient is the norm limited, and at which point?"
SCHEDULER = "how often does the scheduler step, and when? (the docstring says)"
MODE = "in which mode does the model train, and each part of it, however it comes?"
OLD = "which gradients are there before the first batch?"
READ = "how often, and how, are the batches read? they may be a generator"
STEP = "who changes the parameters?"
LARGE = "what happens to large losses, and to large gradients where max_grad_norm is None?"
SHORT = "what happens to a gradient that is short enough?"
ORDINARY: dict[str, Any] = {"n_batches": 3, "accumulate": 1, "max_grad_norm": None, "epochs": 1}
LIMIT = {"max_grad_norm": 0.02}
# For each rubric item, its cases: what is not ordinary (arguments of `Training`, of train_epoch, and of the stand-in
# `train`, which says what each means), and where to look.
CASES: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "forward, backward, step": {
        "three batches": ({}, FORWARD),
        "one sentence a batch": ({"shape": "one sentence"}, FORWARD),
        "momentum and weight decay": ({"optimizer": "with momentum", "epochs": 2}, STEP),
    },
    "modes, old gradients, dtype": {
        "float32": ({"dtype": torch.float32}, "which dtype does the loss have on the way?"),
        "a model in eval mode": ({"is_training": False, "epochs": 2}, MODE),
        "a part in eval mode": ({"is_mixed": True}, MODE),
        "old gradients": ({"old_gradients": True}, OLD),
        "a generator": ({"as_generator": True}, READ),
    },
    "accumulation": {
        "2 of 5 batches, other padding": ({"accumulate": 2, "n_batches": 5, "pad": 5}, MEAN),
        "7 of 5 batches with many labels": ({"accumulate": 7, "n_batches": 5, "shape": "many labels"}, MEAN),
        "ignore_index -100": ({"accumulate": 2, "pad": -100, "smoothing": 0.0}, MEAN),
    },
    "clipping and scheduler": {
        "large losses": ({"values": "large losses"}, LARGE),
        "clipping": ({**LIMIT, "accumulate": 2, "shape": "equal"}, CLIP),
        "clipping a group of eight": ({**LIMIT, "accumulate": 8, "shape": "equal"}, CLIP),
        "clipping two groups of parameters": ({**LIMIT, "parameter_groups": 2}, CLIP),
        "clipping with a frozen parameter": ({**LIMIT, "without_gradient": "the last"}, CLIP),
        "clipping with an unused parameter": ({**LIMIT, "without_gradient": "one more"}, CLIP),
        "small gradients": ({"max_grad_norm": 1000.0}, SHORT),
        "a scheduler": ({**LIMIT, "schedule": True, "accumulate": 2, "n_batches": 5, "shape": "equal"}, SCHEDULER),
        "a scheduler, no incomplete group": (
            {"schedule": True, "accumulate": 2, "n_batches": 4, "epochs": 2, "shape": "equal"},
            SCHEDULER,
        ),
    },
}
ROWS = {name: row for rows in CASES.values() for name, row in rows.items()}
each_case = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.item(item)) for item, rows in CASES.items() for name in rows]
)


def described(name: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Of a case: settings of the training, arguments of train_epoch, and in what state it gets model and batches."""
    row = ORDINARY | ROWS[name][0]
    names = ["n_batches", "shape", "smoothing", "pad", "dtype", "values"]
    settings = {key: row.pop(key) for key in names if key in row}
    options = {key: row.pop(key) for key in ("accumulate", "max_grad_norm")}
    return settings, options, row


@each_case
def test_training(submission: SubmissionUnderTest, case: Case, name: str) -> None:
    settings, options, how = described(name)
    optimizer, epochs = how.pop("optimizer", "plain"), how["epochs"]
    training = Training(submission, case, **settings)
    state = {**OPTIMIZERS[optimizer], **how}
    n_steps = epochs * -(-settings["n_batches"] // options["accumulate"])
    factors = [0.5**step for step in range(n_steps)] if "schedule" in how else None
    others = how.get("parameter_groups", 1), optimizer, how.get("without_gradient", "")
    with judged(traits_of(settings, options, how)), observing(partial(training.observe, options, state)):
        losses, found, steps, changed = training.run(options, **state)
        _, wanted = training.expected(options["accumulate"], options["max_grad_norm"], factors, epochs, *others)
        training.check(found, wanted, f"after training: {name}", ROWS[name][1])
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
    with observing(partial(training.about_mean, losses)):
        expect_close(got, expected, "the returned losses", look_at, tolerance)
