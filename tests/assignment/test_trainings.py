"""What a training should end with follows from the small model, whose costs and gradients are known in closed form."""

from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from assignment.expected.trainings import IN_EVAL_MODE, SIZES, Training, limited
from assignment.stand_ins.models import TinyTranslator
from autograder.testing.case import Case
from autograder.testing.results import CheckFailed

SETTINGS = {
    "as usual": ({}, {}, {}),
    "without smoothing": ({"has_encoder_mask": True}, {"smoothing": 0.0}, {"label_smoothing": 0.0}),
    "with padding": ({"pad": 5}, {"with_padding": True}, {"ignore_index": -100}),
    "negative padding": ({"pad": -100}, {}, {}),
    "in eval mode": ({"shape": "one sentence"}, {"mode": IN_EVAL_MODE}, {}),
}


@pytest.mark.parametrize(("drawn", "ours", "pytorchs"), SETTINGS.values(), ids=SETTINGS)
def test_costs_and_their_gradient_are_those_of_the_small_model(drawn, ours, pytorchs):
    training = Training(None, Case(3, "closed form"), 4, **drawn)
    model = TinyTranslator(*SIZES).train("mode" not in ours)
    for parameter, value in zip(model.parameters(), training.start, strict=True):
        parameter.data.copy_(value)
    options = {"ignore_index": training.pad, "label_smoothing": training.smoothing, **pytorchs}
    sums = []
    for batch in training.batches:
        memory, _ = model.encode(batch["src"], batch["encoder_mask"])
        output, _, _ = model.decode(batch["tgt_input"], memory, batch["src_mask"], batch["tgt_mask"])
        scores = model.get_predictions(output).mT
        sums.append(F.cross_entropy(scores, batch["labels"], reduction="sum", **options))
    place = torch.cat([value.flatten() for value in training.start])
    costs, gradient = training.costs(place, range(4), **ours)
    assert torch.allclose(torch.stack([of_batch.sum() for of_batch in costs]), torch.stack(sums))
    mean = sum(sums) / sum(map(len, costs))
    of_model = torch.autograd.grad(mean, [*model.parameters()])
    assert torch.allclose(gradient, torch.cat([part.flatten() for part in of_model]))


def test_a_limit_cuts_the_norm_of_longer_gradients_alone():
    gradient = torch.tensor([3.0, 4.0], dtype=torch.float64)
    assert torch.allclose(limited(gradient, 1.0), gradient / 5)
    assert torch.equal(limited(gradient, 6.0), gradient) and torch.equal(limited(gradient, None), gradient)


def test_parameters_that_are_no_tensors_fail():
    """As where a submission replaces the model's `parameters`."""
    submission = SimpleNamespace(apply=lambda *arguments: ([0.5], ["text"], None, []))
    with pytest.raises(CheckFailed, match=r"expected: tensors\n  got:      str"):
        Training(submission, Case(3, "no tensors"), 1).run()
