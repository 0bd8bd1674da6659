"""Task 3.1: one pass over the batches, on a small stand-in for the model.

`Training` describes a run of `train_epoch` and works out what it should end with, by gradient descent on the mean over
all labels of each group of batches.
"""

from functools import partial
from typing import Any

import pytest
import torch

from assignment.expected.training_diagnosis import about_mean, observe
from assignment.expected.trainings import Training
from autograder.testing.case import Case, SubmissionUnderTest
from autograder.testing.comparison import describe, expect, expect_close
from autograder.testing.contrast import judged
from autograder.testing.results import CheckFailed, observing

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
MOMENTUM = {"momentum": 0.5, "weight_decay": 0.1}
MODES = "modes, masks, dtype"
CLIPPING = "clipping and scheduler"
LIMIT = {"max_grad_norm": 0.02}
# For each rubric item, its cases: what is not ordinary (arguments of `Training`), and where to look.
CASES: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "forward, backward, step": {
        "three batches": ({}, FORWARD),
        "one sentence a batch": ({"shape": "one sentence"}, FORWARD),
        "many batches": ({"shape": "equal", "n_batches": 51}, READ),
        "momentum and weight decay": ({**MOMENTUM, "epochs": 2}, STEP),
    },
    MODES: {
        "the encoder's own mask": ({"has_encoder_mask": True}, FORWARD),
        "float32": ({"dtype": torch.float32}, "which dtype does the loss have on the way?"),
        "a model in eval mode": ({"mode_matters": True, "is_training": False, "epochs": 2}, MODE),
        "a part in eval mode": ({"mode_matters": True, "is_mixed": True}, MODE),
        "a generator": ({"as_generator": True}, READ),
    },
    "accumulation, old gradients": {
        "old gradients": ({"old_gradients": True}, OLD),
        "2 of 5 batches, other padding": ({"accumulate": 2, "n_batches": 5, "pad": 5}, MEAN),
        "7 of 5 batches with many labels": ({"accumulate": 7, "n_batches": 5, "shape": "many labels"}, MEAN),
        "2 of 4 batches": ({"accumulate": 2, "n_batches": 4}, MEAN),
        "ignore_index -100": ({"accumulate": 2, "pad": -100, "smoothing": 0.0}, MEAN),
    },
    CLIPPING: {
        "large losses": ({"values": "large losses"}, LARGE),
        "clipping": ({**LIMIT, "accumulate": 2, "n_batches": 4, "shape": "equal"}, CLIP),
        "clipping a group of eight": ({**LIMIT, "accumulate": 8, "n_batches": 8, "shape": "equal"}, CLIP),
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


def training_of(submission: SubmissionUnderTest, case: Case, name: str, **other: Any) -> Training:
    return Training(submission, case, **{"n_batches": 3, **ROWS[name][0], **other})


@each_case
def test_training(submission: SubmissionUnderTest, case: Case, name: str) -> None:
    training, look_at = training_of(submission, case, name), ROWS[name][1]
    if name in CASES[CLIPPING] and training.accumulate > 1 and not training.accumulates():
        training = training_of(submission, case, name, accumulate=1)  # what a group is costs another item
    with judged(training.traits()), observing(partial(observe, training)):
        _, parameters, n_steps, changed = training.run()
        try:
            training.check(parameters, f"after training: {name}", look_at)
        except CheckFailed:  # what is wrong with the steps themselves costs other items
            if name not in CASES[MODES] or not training.is_wrong_as_ever(parameters):
                raise
    if "schedule" in training.state:
        due = len(training.groups)
        expect(n_steps == due, "the scheduler's steps", f"{due}", f"{n_steps}", SCHEDULER)
    kept = "train_epoch changes nothing about its arguments but what the steps change"
    expect(changed == [], "the arguments' settings afterwards", "as they were", f"{changed} differ"[:200], kept)


@pytest.mark.item("returned loss")
@pytest.mark.parametrize("name", ["2 of 4 batches", "large losses"])
def test_mean_loss_is_returned(submission: SubmissionUnderTest, case: Case, name: str) -> None:
    training = training_of(submission, case, name, rate=0.0)  # nothing is learned: steps are for other tests
    losses, *_ = training.run()
    for loss in losses:
        expect(
            isinstance(loss, float),
            "what train_epoch returns",
            "a Python float",
            describe(loss),
            "a tensor is no number: .item()",
        )
    got, expected = (torch.tensor(several, dtype=torch.float64) for several in (losses, training.expected()[0]))
    look_at = "the mean of the batches' losses, each as the criterion returns it"
    with observing(partial(about_mean, training, losses)):
        expect_close(got, expected, "the returned losses", look_at)
