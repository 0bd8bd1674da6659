"""Task 2.4: embeddings, positions, encoder, decoder; everything inside is a stand-in."""

from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.assignment.checks import model_situations, models
from autograder.testing.case import ALMOST_ALL, Case
from autograder.testing.comparison import (
    copies,
    expect,
    expect_close,
    expect_equal_to_one,
    expect_gradients,
    expect_shape,
    expect_unchanged,
    run_backward,
)
from autograder.testing.under_test import SubmissionUnderTest

pytestmark = pytest.mark.task_2_4

COMPONENT = "model.Transformer"


@pytest.mark.core
def test_encode(submission: SubmissionUnderTest, case: Case) -> None:
    models.check_encode(models.make_model(submission, case), case)


@pytest.mark.core
def test_decode(submission: SubmissionUnderTest, case: Case) -> None:
    models.check_decode(models.make_model(submission, case), case)


def test_number_of_layers(submission: SubmissionUnderTest, case: Case) -> None:
    made = models.make_model(submission, case, n_layers=case.choose([1, 3, 4]))
    models.check_encode(made, case)
    models.check_decode(made, case)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_dropout_of_positions(submission: SubmissionUnderTest, case: Case, n_layers: int) -> None:
    models.check_positions_have_dropout(models.make_model(submission, case, n_layers=n_layers, dropout=ALMOST_ALL))


def test_predictions_are_log_probabilities(submission: SubmissionUnderTest, case: Case) -> None:
    made = models.make_model(submission, case)
    tgt_vocab, d_model = made.vocab_sizes[1], made.d_model
    output = case.normal(3, 4, d_model)
    predictions = made.model.get_predictions(output)
    expect_shape(predictions, (3, 4, tgt_vocab), "the predictions")
    parameters = [p.detach() for p in made.model.parameters()]
    weights = [p for p in parameters if tuple(p.shape) == (tgt_vocab, d_model)]
    biases = [p for p in parameters if tuple(p.shape) == (tgt_vocab,)]
    biases.append(torch.zeros(tgt_vocab, dtype=torch.float64))
    found = [torch.log_softmax(output @ weight.T + bias, -1) for weight in weights for bias in biases]
    expect_equal_to_one(predictions, found, "the predictions", "log_softmax over the target vocabulary")


def test_both_sides_have_their_own_embedding(submission: SubmissionUnderTest, case: Case) -> None:
    made = models.make_model(submission, case)
    got = len(made.tables(0)), len(made.tables(1))
    src, tgt = ((size, made.d_model) for size in made.vocab_sizes)
    expect(
        got[0] == 1 and got[1] in (1, 2),
        "the embeddings",
        f"one table {src} for the source, one {tgt} for the target (and the output projection)",
        f"{got[0]} and {got[1]} parameters of these shapes",
    )


def test_embeddings_of_equal_size_are_not_shared(submission: SubmissionUnderTest, case: Case) -> None:
    vocab_size, d_model = case.size(8, 16), 4
    sizes = vocab_size, vocab_size, d_model, 2, 8, 1
    model = models.as_translator(submission.build(COMPONENT, *sizes, dtype=torch.float64).eval())
    case.randomise(model.parameters())
    tokens, memory = case.tokens(vocab_size, 2, 5), case.normal(2, 5, d_model)
    masks = torch.ones(2, 1, 1, 5, dtype=torch.bool), torch.ones(2, 1, 5, 5, dtype=torch.bool)

    def both_sides() -> list[Tensor]:
        parts = _first_parts(model.encode(tokens, masks[0]), model.decode(tokens, memory, *masks))
        for part, name in zip(parts, ("memory", "output"), strict=True):
            expect_shape(part, memory.shape, name, dtype=memory.dtype)
        return parts

    before = [part.detach().clone() for part in both_sides()]
    for table in [p for p in model.parameters() if tuple(p.shape) == (vocab_size, d_model)]:
        kept = table.detach().clone()
        case.randomise([table])
        changed = [not torch.equal(one, other) for one, other in zip(before, both_sides(), strict=True)]
        what = "a change in one embedding table"
        expect(not all(changed), what, "changes one side", "changes both", "source and target are not tied")
        with torch.no_grad():
            table.copy_(kept)


def _first_parts(*results: Any) -> list[Tensor]:
    for result in results:
        fits = isinstance(result, (tuple, list)) and len(result) > 0 and isinstance(result[0], Tensor)
        expect(fits, "what encode and decode return", "a tuple that begins with a tensor", type(result).__name__)
    return [result[0] for result in results]


def test_gradients_reach_every_parameter(submission: SubmissionUnderTest, case: Case) -> None:
    made = models.make_model(submission, case)
    memory, _ = made.encode()
    output, _, _ = made.decode(memory)
    predictions = made.model.get_predictions(output)
    look_at = "every part is registered in __init__ and used; nothing is detached between encoder and decoder"
    run_backward(predictions, case.normal(*made.tgt.shape, made.vocab_sizes[1]), "the predictions")
    expect_gradients(list(made.model.parameters()), "gradients of the model's parameters", look_at)


def test_arguments_stay_as_they_are(submission: SubmissionUnderTest, case: Case) -> None:
    made = models.make_model(submission, case)
    tensors = [made.src, made.encoder_mask, made.tgt, made.memory, made.src_mask, made.tgt_mask]
    before = copies(tensors)
    memory, output = made.encode()[0], made.decode()[0]
    names = ("src", "encoder_mask", "tgt", "memory", "src_mask", "tgt_mask")
    expect_unchanged(tensors, before, names)
    expect_close(made.encode()[0], memory, "memory: the same call again", "no state is kept")
    expect_close(made.decode()[0], output, "output: the same call again", "no state is kept")


@pytest.mark.situations
def test_in_many_situations(submission: SubmissionUnderTest, case: Case) -> None:
    model_situations.check_model(submission, case)
