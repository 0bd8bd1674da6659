"""Task 2.4: embeddings, positions, encoder, decoder; everything inside is a stand-in."""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from autograder.checking.comparison import (
    expect,
    expect_close,
    expect_equal_to_one,
    expect_gradients,
    expect_parts,
    expect_shape,
)
from autograder.checking.layouts import stand_in_parts
from autograder.worker.stand_ins import decoder_layer, encoder_layer, name_tokens, place, trace

pytestmark = pytest.mark.task_2_4

COMPONENT = "model.Transformer"
N_LAYERS = 2


@dataclass
class ModelCase:
    model: nn.Module
    src: Tensor
    tgt: Tensor
    src_mask: Tensor
    encoder_mask: Tensor
    tgt_mask: Tensor
    sizes: tuple[int, int, int]  # source and target vocabulary, d_model
    n_heads: int
    dropout: float
    extra: float

    @property
    def memory(self) -> Tensor:
        """Some memory; not the encoder's, so that encode and decode are judged apart."""
        b, s = self.src.shape
        return torch.sin(torch.arange(b * s * self.sizes[2], dtype=torch.float64) * 0.7).view(b, s, -1)


def make(submission, case) -> ModelCase:
    n_heads = case.size(2, 3)
    d_model, d_ff, dropout = n_heads * 2, case.size(14, 20), case.number(0.2, 0.7)
    src_vocab, tgt_vocab = case.sizes(2, 8, 16)
    model = submission.build(
        COMPONENT, src_vocab, tgt_vocab, d_model, n_heads, d_ff, N_LAYERS, dropout, dtype=torch.float64
    ).eval()
    case.randomise(model.parameters())
    b, s, t = case.sizes(3, 2, 6)
    return ModelCase(
        model,
        src=case.tokens(src_vocab, b, s),
        tgt=case.tokens(tgt_vocab, b, t),
        src_mask=case.padding_mask(b, s),
        encoder_mask=case.mask(b, 1, s, s),
        tgt_mask=case.mask(b, 1, t, t),
        sizes=(src_vocab, tgt_vocab, d_model),
        n_heads=n_heads,
        dropout=dropout,
        extra=trace(d_ff, dropout, False, N_LAYERS),
    )


def candidates(made: ModelCase, side: int, tokens: Tensor):
    """Embedded and placed tokens, for each parameter that may be the embedding of that side."""
    shape = (made.sizes[side], made.sizes[2])
    for parameter in made.model.parameters():
        if tuple(parameter.shape) == shape:
            yield place(name_tokens(tokens, parameter.detach()), made.dropout)


def expect_stack(actual, found, names, n_lists, look_at):
    """Compares x, and each list of weights, with the candidates (x, weights of one layer…)."""
    x, *lists = expect_parts(actual, names, "what the method returns")
    index = expect_equal_to_one(x, [outputs[0] for outputs in found], f"{names[0]}", look_at)
    for name, came, wanted in zip(names[1:], lists, found[index][1:], strict=True):
        labels = [f"layer {number + 1}" for number in range(n_lists)]
        for label, one in zip(labels, expect_parts(came, labels, name), strict=True):
            expect_close(one, wanted, f"{name} of {label}", "the stack's weights are returned as they are")


@pytest.mark.core
def test_encode(submission, case):
    made = make(submission, case)
    mixes = stand_in_parts([p.detach() for p in made.model.parameters()], made.sizes[2]).encoder_layers
    found = [
        encoder_layer(x, made.encoder_mask, mix, made.n_heads, made.extra)
        for x in candidates(made, 0, made.src)
        for mix in mixes
    ]
    look_at = "source embedding, positions, encoder with the encoder's mask; all settings of the constructor passed on"
    expect_stack(made.model.encode(made.src, made.encoder_mask), found, ("memory", "weights"), N_LAYERS, look_at)


@pytest.mark.core
def test_decode(submission, case):
    made = make(submission, case)
    mixes = stand_in_parts([p.detach() for p in made.model.parameters()], made.sizes[2]).decoder_layers
    found = [
        decoder_layer(x, made.memory, made.src_mask, made.tgt_mask, mix, made.n_heads, made.extra)
        for x in candidates(made, 1, made.tgt)
        for mix in mixes
    ]
    look_at = "target embedding, positions, decoder with memory, src_mask and tgt_mask; all settings passed on"
    actual = made.model.decode(made.tgt, made.memory, made.src_mask, made.tgt_mask)
    expect_stack(actual, found, ("output", "self_weights", "cross_weights"), N_LAYERS, look_at)


def test_predictions_are_log_probabilities(submission, case):
    made = make(submission, case)
    tgt_vocab, d_model = made.sizes[1:]
    output = case.normal(3, 4, d_model)
    predictions = made.model.get_predictions(output)
    expect_shape(predictions, (3, 4, tgt_vocab), "the predictions")
    parameters = [p.detach() for p in made.model.parameters()]
    weights = [p for p in parameters if p.shape == (tgt_vocab, d_model)]
    biases = [p for p in parameters if p.shape == (tgt_vocab,)] + [torch.zeros(tgt_vocab, dtype=torch.float64)]
    found = [torch.log_softmax(output @ weight.T + bias, -1) for weight in weights for bias in biases]
    expect_equal_to_one(predictions, found, "the predictions", "log_softmax over the target vocabulary")


def test_both_sides_have_their_own_embedding(submission, case):
    made = make(submission, case)
    shapes = [tuple(p.shape) for p in made.model.parameters()]
    src, tgt = ((size, made.sizes[2]) for size in made.sizes[:2])
    expect(
        shapes.count(src) == 1 and shapes.count(tgt) in (1, 2),
        "the embeddings",
        f"one table {src} for the source, one {tgt} for the target (and the output projection)",
        f"{shapes.count(src)} and {shapes.count(tgt)} parameters of these shapes",
    )


def test_gradients_reach_every_parameter(submission, case):
    made = make(submission, case)
    memory, _ = made.model.encode(made.src, made.encoder_mask)
    output, _, _ = made.model.decode(made.tgt, memory, made.src_mask, made.tgt_mask)
    predictions = made.model.get_predictions(output)
    (predictions * case.normal(*predictions.shape)).sum().backward()
    look_at = "every part is registered in __init__ and used; nothing is detached between encoder and decoder"
    expect_gradients(list(made.model.parameters()), "gradients of the model's parameters", look_at)


def test_arguments_stay_as_they_are(submission, case):
    made = make(submission, case)
    before = made.src.clone(), made.encoder_mask.clone()
    first, _ = made.model.encode(made.src, made.encoder_mask)
    same = torch.equal(made.src, before[0]) and torch.equal(made.encoder_mask, before[1])
    expect(same, "the arguments after encode", "unchanged values", "changed in place")
    expect_close(made.model.encode(made.src, made.encoder_mask)[0], first, "the same call again", "no state is kept")


def test_embeddings_of_equal_size_are_not_shared(submission, case):
    model = submission.build(COMPONENT, 9, 9, 4, 2, 8, 1)
    shapes = [tuple(p.shape) for p in model.parameters()]
    expect(
        shapes.count((9, 4)) >= 2,
        "the embeddings of two vocabularies of equal size",
        "one table for the source and one for the target",
        f"{shapes.count((9, 4))} tables of this size",
        "tying source to target is not allowed",
    )
