"""One layer under test: how it is built, and what it is made of.

The attention, the feed-forward network and the LayerNorms inside are stand-ins with random parameters. A submission
may write some of them out in the layer instead.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import torch
from torch import Tensor, nn

from autograder.assignment.parameter_roles.parts import Census, Norm, network_readings, norm_readings, take_census
from autograder.assignment.stand_ins.formulas import mixed_look_up
from autograder.testing.case import Case
from autograder.testing.comparison import expect_parts, expect_shape
from autograder.testing.under_test import SubmissionUnderTest

POST_NORM = "LayerNorm(x + dropout(sublayer(x))) for each sublayer in turn"
PRE_NORM = "x + dropout(sublayer(LayerNorm(x))) for each sublayer in turn"
MASKS = "; self-attention gets tgt_mask; cross-attention gets src_mask, and the memory as key and value"

ARGUMENTS = {"Encoder": ("x", "mask"), "Decoder": ("x", "memory", "src_mask", "tgt_mask")}
"""Of a layer, and of a stack of layers."""
PARTS = {"Encoder": ("x", "weights"), "Decoder": ("x", "self_weights", "cross_weights")}
"""What these return."""
MOST_PARTS = 5
"""With more parts of one kind, trying all their roles would not end."""

Attention = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]
"""Query, key, value and mask -> output and weights."""

Inputs = tuple[Any, ...]
"""Tensors: x and mask, or x, memory, src_mask and tgt_mask. A mask may be None, which no type could follow here."""


def stand_in(mix: Tensor, n_heads: int) -> Attention:
    """The stand-in for multi-head attention with the parameter `mix`."""
    return partial(mixed_look_up, mix=mix, n_heads=n_heads)


class OfLayers:
    """What one layer and a stack of layers have in common: those of a decoder take and return more."""

    inputs: Inputs

    @property
    def is_decoder(self) -> bool:
        """Whether it is a decoder, or a layer of one."""
        return len(self.inputs) == 4

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The arguments of forward."""
        return ARGUMENTS["Decoder" if self.is_decoder else "Encoder"]

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that forward returns."""
        return PARTS["Decoder" if self.is_decoder else "Encoder"]


@dataclass
class LayerCase(OfLayers):
    """One layer with random parameters, and random inputs for it."""

    layer: nn.Module
    inputs: Inputs
    n_heads: int
    d_ff: int
    dropout: float
    norm_first: bool
    constant: float = 0.0  # the value of all vectors that the layer itself holds, where parts are written out
    probe: Inputs = ()  # inputs without masks, to find out what its parts are

    @property
    def d_model(self) -> int:
        """The number of features of x."""
        return int(self.inputs[0].size(-1))

    @property
    def n_attentions(self) -> int:
        """How many attentions such a layer has."""
        return 2 if self.is_decoder else 1

    @property
    def rule(self) -> str:
        """What the layer computes, for messages."""
        return (PRE_NORM if self.norm_first else POST_NORM) + (MASKS if self.is_decoder else "")

    def run(self, *inputs: Tensor | None, what: str = "what forward returns") -> list[Tensor]:
        """The parts that forward returns for these inputs, each of the right shape."""
        given: Inputs = inputs or self.inputs
        parts = expect_parts(self.layer(*given), self.names, what)
        b, t, d = given[0].shape
        shapes = [(b, t, d), (b, self.n_heads, t, t), (b, self.n_heads, t, given[1].size(1) if self.is_decoder else 0)]
        for part, shape, name in zip(parts, shapes, self.names, strict=False):
            expect_shape(part, shape, name, dtype=given[0].dtype)
        return parts

    @property
    def is_written_out(self) -> bool:
        """Whether parts are written out, so that the parameters alone do not tell their roles."""
        return self.constant != 0

    @property
    def is_crowded(self) -> bool:
        """Whether there are more parts than can be tried in all roles."""
        census = self.census()
        return max(map(len, (census.attentions, census.feed_forwards, census.norms))) > MOST_PARTS

    @property
    def own_vectors(self) -> list[Tensor]:
        """Biases, gains and shifts that belong to no stand-in: parameters too small for a matrix."""
        return [p for p in self.census().others if p.numel() <= 4 * self.d_model]

    def census(self, parameters: Sequence[Tensor] | None = None) -> Census:
        """What the layer is made of."""
        return take_census(list(self.layer.parameters()) if parameters is None else parameters, self.d_model)


def make_layer(
    submission: SubmissionUnderTest,
    case: Case,
    kind: str,
    dropout: float = 0.3,
    norm_first: bool = False,
    d_head: int | None = None,
) -> LayerCase:
    """Builds "EncoderLayer" or "DecoderLayer" of the submission among stand-ins, in eval mode."""
    n_heads = 2 if d_head else case.size(2, 3)
    sizes = n_heads, d_head or case.size(2, 3), case.size(10, 20)
    made = build_layer(submission, case, kind, sizes, dropout, norm_first)
    if any(True for _ in assignments(made)):
        return made
    # The layer's own parameters are told apart by their sizes, so no two sizes may coincide.
    sizes = case.size(4, 5), 5, case.choose((17, 19))
    made = build_layer(submission, case, kind, sizes, dropout, norm_first)
    made.constant = case.number(0.6, 1.4)
    made.probe = without_masks(made.inputs)
    with torch.no_grad():
        for vector in made.own_vectors:
            vector.fill_(made.constant)
    return made


def without_masks(inputs: Inputs) -> Inputs:
    """The inputs with None in place of the masks."""
    return tuple(tensor if tensor.is_floating_point() else None for tensor in inputs)


def build_layer(
    submission: SubmissionUnderTest,
    case: Case,
    kind: str,
    sizes: tuple[int, int, int],
    dropout: float,
    norm_first: bool,
    dtype: torch.dtype = torch.float64,
    by_name: bool = False,
) -> LayerCase:
    """Builds the layer with random parameters for n_heads, d_head and d_ff, and draws inputs (of float64)."""
    n_heads, d_head, d_ff = sizes
    d_model = n_heads * d_head
    settings: dict[str, Any] = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff, "dropout": dropout}
    given = ((), settings) if by_name else (settings.values(), {})
    options: dict[str, Any] = {"norm_first": True} if norm_first else {}
    layer = submission.build(f"layers.{kind}", *given[0], dtype=dtype, **given[1], **options).eval()
    case.randomise(layer.parameters(), scale=min(0.7, 1.8 * d_model**-0.5))
    b, s, t = case.sizes(3, 3, 6)
    inputs: Inputs
    if kind == "EncoderLayer":
        inputs = case.normal(b, s, d_model), case.mask(b, 1, s, s)
    else:
        src_mask, tgt_mask = case.padding_mask(b, s), case.mask(b, 1, t, t)
        inputs = case.normal(b, t, d_model), case.normal(b, s, d_model), src_mask, tgt_mask
    return LayerCase(layer, inputs, n_heads, d_ff, dropout, norm_first)


@dataclass(frozen=True)
class Sublayers:
    """The parts of a layer in their roles."""

    made: LayerCase
    attentions: tuple[Attention, ...]
    network: Callable[[Tensor], Tensor]
    norms: tuple[Norm, ...]
    is_silent: bool = False  # whether dropout leaves nothing of what the sublayers compute

    def sublayer(self, number: int, state: Tensor) -> tuple[Tensor, Tensor | None]:
        """What the sublayer computes from `state` (b, t, d), and its weights."""
        if number == self.made.n_attentions:
            return self.network(state), None
        source, mask = self.source(number, state)
        return self.attentions[number](state, source, source, mask)

    def source(self, number: int, state: Tensor) -> tuple[Tensor, Tensor | None]:
        """Key and value of an attention, and its mask."""
        _, *rest = self.made.inputs
        return (state, rest[-1]) if number == 0 else (rest[0], rest[1])

    def read(self, number: int, state: Tensor) -> Tensor:
        """What the sublayer reads of `state`."""
        return self.norms[number](state) if self.made.norm_first else state

    def add(self, number: int, state: Tensor, out: Tensor) -> Tensor:
        """The state after the sublayer has computed `out`."""
        state = state + (0 * out if self.is_silent else out)
        return state if self.made.norm_first else self.norms[number](state)

    def before(self, number: int) -> Tensor:
        """The state that the sublayer finds."""
        state: Tensor = self.made.inputs[0]
        for earlier in range(number):
            state = self.add(earlier, state, self.sublayer(earlier, self.read(earlier, state))[0])
        return state

    def run(self) -> list[Tensor]:
        """What the layer returns."""
        state: Tensor = self.made.inputs[0]
        weights: list[Tensor] = []
        for number in range(len(self.norms)):
            out, seen = self.sublayer(number, self.read(number, state))
            state = self.add(number, state, out)
            weights += [] if seen is None else [seen]
        return [state, *weights]


def assignments(made: LayerCase, parameters: Sequence[Tensor] | None = None) -> Iterator[Sublayers]:
    """Each assignment of roles to the parts inside; nothing where the parameters do not show the parts."""
    census = made.census(parameters)
    n_norms = made.n_attentions + 1
    for norms, others in norm_readings(census, n_norms, made.d_model):
        for network in network_readings(census, others, made.d_model, made.d_ff):
            for mixes in permutations(census.attentions, made.n_attentions):
                attentions = tuple(stand_in(mix, made.n_heads) for mix in mixes)
                for order in permutations(norms, n_norms):
                    yield Sublayers(made, attentions, network, order)


def norm_orders(made: LayerCase, parameters: Sequence[Tensor] | None = None) -> Iterator[tuple[Norm, ...]]:
    """Each order in which the layer may apply its LayerNorms."""
    census, count = made.census(parameters), made.n_attentions + 1
    if made.is_written_out:
        vector = torch.full((made.d_model,), made.constant, dtype=torch.float64)
        own = Norm(vector, vector, is_stand_in=False)
        norms = [Norm(norm[0], norm[1], is_stand_in=True) for norm in census.norms]
        norms += [own] * (count - len(norms))
        yield from {tuple(map(id, order)): order for order in permutations(norms)}.values()
        return
    for norms, _ in norm_readings(census, count, made.d_model):
        yield from permutations(norms, count)
