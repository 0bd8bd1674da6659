"""Checks of the Transformer; everything inside is a stand-in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from autograder.assignment.parameter_roles.parts import Census, take_census
from autograder.assignment.stand_ins.formulas import decoder_layer, encoder_layer, name_tokens, place, trace
from autograder.testing.case import Case
from autograder.testing.comparison import expect_close, expect_equal_to_one, expect_parts, expect_shape
from autograder.testing.under_test import SubmissionUnderTest

SETTINGS = "all settings of the constructor passed on in order"
ENCODE = f"source embedding, positions, encoder with the encoder's mask; {SETTINGS}"
DECODE = f"target embedding, positions, decoder with memory, src_mask, tgt_mask in this order; {SETTINGS}"


class Translator(Protocol):
    """What the contract says about a Transformer beyond any nn.Module."""

    def encode(self, src: Tensor, encoder_mask: Tensor | None) -> object:
        """Memory and weights."""
        ...

    def decode(self, tgt: Tensor, memory: Tensor, src_mask: Tensor | None, tgt_mask: Tensor | None) -> object:
        """Output and both lists of weights."""
        ...

    def get_predictions(self, output: Tensor) -> object:
        """Log-probabilities."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """As of any module."""
        ...

    def train(self) -> object:
        """As of any module."""
        ...


def as_translator(model: nn.Module) -> Translator:
    """The model, with the methods that the contract promises."""
    return cast(Translator, model)


@dataclass
class ModelCase:
    """A Transformer with random parameters, and random inputs for it."""

    model: Translator
    src: Tensor
    tgt: Tensor
    memory: Tensor  # not the encoder's, so that encode and decode are judged separately
    src_mask: Tensor
    encoder_mask: Tensor
    tgt_mask: Tensor
    vocab_sizes: tuple[int, int]
    n_heads: int
    n_layers: int
    extra: float  # part of each stack's output that shows whether it was given the right settings

    @property
    def d_model(self) -> int:
        """The number of features of a vector."""
        return self.memory.size(-1)

    def census(self) -> Census:
        """What the model is made of."""
        return take_census([p.detach() for p in self.model.parameters()], self.d_model)

    def tables(self, side: int) -> list[Tensor]:
        """The parameters that may be the embedding of the source (0) or target (1)."""
        shape = (self.vocab_sizes[side], self.d_model)
        return [p.detach() for p in self.model.parameters() if tuple(p.shape) == shape]

    def encode(self, src: Tensor | None = None) -> list[Any]:
        """Memory and the weights by layer, each of the right shape."""
        src = self.src if src is None else src
        memory, weights = expect_parts(
            self.model.encode(src, self.encoder_mask), ("memory", "weights"), "what encode returns"
        )
        expect_shape(memory, (*src.shape, self.d_model), "memory", dtype=torch.float64)
        self._expect_weights(weights, "weights", src.size(1), src.size(1))
        return [memory, weights]

    def decode(self, memory: Tensor | None = None, tgt: Tensor | None = None) -> list[Any]:
        """Output and both lists of weights, each of the right shape."""
        tgt = self.tgt if tgt is None else tgt
        names = ("output", "self_weights", "cross_weights")
        memory = self.memory if memory is None else memory
        parts = expect_parts(self.model.decode(tgt, memory, self.src_mask, self.tgt_mask), names, "what decode returns")
        expect_shape(parts[0], (*tgt.shape, self.d_model), "output", dtype=torch.float64)
        for part, name, keys in zip(parts[1:], names[1:], (tgt.size(1), memory.size(1)), strict=True):
            self._expect_weights(part, name, tgt.size(1), keys)
        return parts

    def _expect_weights(self, lists: object, name: str, queries: int, keys: int) -> None:
        labels = [f"layer {number + 1}" for number in range(self.n_layers)]
        for label, part in zip(labels, expect_parts(lists, labels, name), strict=True):
            expect_shape(part, (self.src.size(0), self.n_heads, queries, keys), f"{name} of {label}")


def make_model(
    submission: SubmissionUnderTest,
    case: Case,
    norm_first: bool = False,
    n_layers: int = 2,
    dropout: float | None = None,
) -> ModelCase:
    """Builds the submission's Transformer among stand-ins, in eval mode."""
    n_heads = case.size(2, 3)
    d_model, d_ff = n_heads * 2, case.size(14, 20)
    dropout = case.number(0.2, 0.7) if dropout is None else dropout
    src_vocab, tgt_vocab = case.sizes(2, 8, 16)
    options: dict[str, Any] = {"norm_first": True} if norm_first else {}
    sizes = src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers
    model = submission.build("model.Transformer", *sizes, dropout, dtype=torch.float64, **options).eval()
    case.randomise(model.parameters())
    b, s, t = case.sizes(3, 3, 6)
    return ModelCase(
        as_translator(model),
        src=case.tokens(src_vocab, b, s),
        tgt=case.tokens(tgt_vocab, b, t),
        memory=case.normal(b, s, d_model),
        src_mask=case.padding_mask(b, s),
        encoder_mask=case.mask(b, 1, s, s),
        tgt_mask=case.mask(b, 1, t, t),
        vocab_sizes=(src_vocab, tgt_vocab),
        n_heads=n_heads,
        n_layers=n_layers,
        extra=trace(d_ff, dropout, norm_first, n_layers),
    )


def encoded(made: ModelCase, surviving: float = 1.0) -> Iterator[tuple[Tensor, ...]]:
    """Memory and weights for each assignment of the parameters; `surviving` scales the embedded source."""
    for table in made.tables(0):
        x = surviving * place(name_tokens(made.src, table))
        for mix in made.census().encoder_layers:
            yield encoder_layer(x, made.encoder_mask, mix, made.n_heads, made.extra)


def decoded(made: ModelCase, surviving: float = 1.0) -> Iterator[tuple[Tensor, ...]]:
    """Output and both weights, likewise."""
    for table in made.tables(1):
        x = surviving * place(name_tokens(made.tgt, table))
        for mix in made.census().decoder_layers:
            yield decoder_layer(x, made.memory, made.src_mask, made.tgt_mask, mix, made.n_heads, made.extra)


def expect_stack(actual: list[Any], found: list[tuple[Tensor, ...]], names: tuple[str, ...], look_at: str) -> None:
    """Compares x, and each list of weights, with the candidates (x, weights of one layer…)."""
    x, *lists = actual
    index = expect_equal_to_one(x, [outputs[0] for outputs in found], names[0], look_at)
    for name, got, wanted in zip(names[1:], lists, found[index][1:], strict=True):
        for number, one in enumerate(got, start=1):
            expect_close(one, wanted, f"{name} of layer {number}", "the stack's weights are returned as they are")


def check_encode(made: ModelCase, case: Case) -> None:
    """Memory and weights, also after a call with another source."""
    made.encode(case.tokens(made.vocab_sizes[0], *made.src.shape))
    expect_stack(made.encode(), list(encoded(made)), ("memory", "weights"), ENCODE)


def check_decode(made: ModelCase, case: Case) -> None:
    """Output and weights, also after encode and after a call with another memory."""
    made.encode()
    made.decode(case.normal(*made.memory.shape))
    expect_stack(made.decode(), list(decoded(made)), ("output", "self_weights", "cross_weights"), DECODE)


def check_positions_have_dropout(made: ModelCase) -> None:
    """With a rate of almost 1, nothing survives the positional encoding on either side in training."""
    made.model.train()
    look_at = "dropout reaches both positional encodings"
    expect_stack(made.encode(), list(encoded(made, 0.0)), ("memory in train mode", "weights"), look_at)
    names = ("output in train mode", "self_weights", "cross_weights")
    expect_stack(made.decode(), list(decoded(made, 0.0)), names, look_at)
