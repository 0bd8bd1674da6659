"""What an encoder or decoder layer, a stack of them, or a model computes, for each role that its parts may play.

In the tests of layers the attention, the feed-forward network and the LayerNorms inside are stand-ins, which have
parameters of shapes that nothing else has. Which LayerNorm belongs to which sublayer is found by trying: only the right
roles give what comes out. A layer may write parts out in place of stand-ins; see `written_out`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations, product

import torch
from torch import Tensor

from assignment.stand_ins.formulas import (
    VECTORS,
    decoder_layer,
    encoder_layer,
    mixed_look_up,
    name_tokens,
    place,
    squash,
    wave,
)
from autograder.testing.comparison import expect
from autograder.testing.fitting import Computation
from autograder.testing.results import CheckFailed, OtherPartsError

Attention = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]
"""Query, key, value and mask -> output and weights."""

NormKind = Callable[[Tensor, Tensor, Tensor], Tensor]
"""x, gain and shift -> what a LayerNorm makes of them."""

EPSILON = 1e-6  # LayerNorm's default
MOST_PARTS = 5
"""With more parts of one kind, trying all their roles would not end."""


@dataclass(frozen=True)
class Sizes:
    """The settings of a layer; a stack and a model have some more."""

    d_model: int
    n_heads: int
    d_ff: int
    norm_first: bool = False


@dataclass(frozen=True)
class Census:
    """The parameters of a component by the stand-in that they belong to; `others` are the submission's own."""

    norms: list[Tensor]  # (2, 1, d)
    feed_forwards: list[Tensor]  # (3, 1, d)
    attentions: list[Tensor]  # (4, 1, d)
    encoder_layers: list[Tensor]  # (5, 1, d)
    decoder_layers: list[Tensor]  # (9, 1, d)
    others: list[Tensor]

    @classmethod
    def of(cls, parameters: Sequence[Tensor], d_model: int) -> "Census":
        """Sorts the parameters by their shapes."""
        shapes = [(count, 1, d_model) for count in VECTORS.values()]
        norms, feed_forwards, attentions, encoder_layers, decoder_layers = (
            [p for p in parameters if tuple(p.shape) == shape] for shape in shapes
        )
        others = [p for p in parameters if tuple(p.shape) not in shapes]
        return cls(norms, feed_forwards, attentions, encoder_layers, decoder_layers, others)

    def silence_only(self, silent: Sequence[Tensor], d_ff: int) -> None:
        """Makes these sublayers alone return 0, the others plain sums, the norms 0.9 tanh(x), which can be undone."""
        with torch.no_grad():
            for mix in (*self.attentions, *self.feed_forwards):
                is_network = mix.size(0) == 3
                mix[1 if is_network else 3].fill_(float(all(mix is not one for one in silent)))
                if is_network:
                    mix[2].fill_(-d_ff / 1000)
            for norm in self.norms:
                norm[0].fill_(0.9)
                norm[1].zero_()


def drops_single_entries(trained: Tensor, whole: Tensor, silent: Tensor, rate: float, n_norms: int) -> bool:
    """Whether dropout has left 0 or 1 / (1 - rate) of each entry of the one sublayer that computes something.

    Args:
        trained: output in train mode, of a layer whose LayerNorms are 0.9 tanh(x).
        whole: in eval mode.
        silent: without that sublayer.
        rate: of dropout.
        n_norms: LayerNorms between the sublayer and the output.
    """
    for _ in range(n_norms):
        trained, whole, silent = (torch.atanh(x / 0.9) for x in (trained, whole, silent))
    kept = (trained - silent) / (whole - silent)
    is_dropped, is_scaled = kept.abs() < 1e-4, (kept - 1 / (1 - rate)).abs() < 1e-4
    is_mixed = [bool((is_dropped != is_dropped.select(axis, 0).unsqueeze(axis)).any()) for axis in range(3)]
    return bool((is_dropped | is_scaled).all()) and all(is_mixed)


@dataclass(frozen=True)
class Norm:
    """A LayerNorm: a stand-in's, or a layer's own, which has one of the `KINDS`."""

    gain: Tensor
    shift: Tensor
    compute: NormKind = squash

    def __call__(self, x: Tensor) -> Tensor:
        """(..., d) -> (..., d)."""
        return self.compute(x, self.gain, self.shift)


def own_norm(
    x: Tensor, gain: Tensor, shift: Tensor, epsilon: float = EPSILON, less: int = 0, is_outside: bool = False
) -> Tensor:
    """What a layer's own LayerNorm computes: d - `less` is divided by, and epsilon perhaps added outside the root."""
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().sum(-1, keepdim=True) / (x.size(-1) - less)
    # No slope where all features are equal: that is LayerNorm's task.
    scale = variance.clamp_min(1e-300).sqrt() + epsilon if is_outside else (variance + epsilon).sqrt()
    return gain * centred / scale + shift


KINDS = [
    partial(own_norm, epsilon=epsilon, less=less, is_outside=is_outside)
    for less, is_outside, epsilon in product((0, 1), (False, True), (EPSILON, 1e-5, 1e-12, 1e-3))
]
"""What own LayerNorms compute. Task 1.4 judges it; a layer with any of them may be right."""


@dataclass(frozen=True)
class Layer:
    """An encoder layer (one attention) or a decoder layer (two), with its parts in their roles.

    Attributes:
        attentions: self-attention first.
        network: feed-forward.
        norms: of the sublayers, in order.
        norm_first: whether each sublayer reads the norm of its input.
        kept: what dropout leaves of the sublayers' outputs, 1 or 0.
    """

    attentions: tuple[Attention, ...]
    network: Callable[[Tensor], Tensor]
    norms: tuple[Norm, ...]
    norm_first: bool
    kept: float = 1.0

    def __call__(self, x: Tensor, *others: Tensor | None) -> list[Tensor]:
        """The output and the weights, for x and mask, or for x, memory, src_mask and tgt_mask."""
        weights = []
        for number in range(len(self.norms)):
            out, seen = self.sublayer(number, self.read(number, x), others)
            x = self.add(number, x, out)
            weights += [] if seen is None else [seen]
        return [x, *weights]

    def sublayer(self, number: int, x: Tensor, others: Sequence[Tensor | None]) -> tuple[Tensor, Tensor | None]:
        """What a sublayer computes from what it reads, and its weights."""
        if number == len(self.attentions):
            return self.network(x), None
        source, mask = (x, others[-1]) if number == 0 else (others[0], others[1])
        return self.attentions[number](x, source, source, mask)  # type: ignore[arg-type]  # a memory is no None

    def read(self, number: int, x: Tensor) -> Tensor:
        """What a sublayer reads of x."""
        return self.norms[number](x) if self.norm_first else x

    def add(self, number: int, x: Tensor, out: Tensor) -> Tensor:
        """What follows a sublayer that has computed `out`."""
        x = x + self.kept * out
        return x if self.norm_first else self.norms[number](x)


def layers(leaves: Sequence[Tensor], n_attentions: int, sizes: Sizes) -> Iterator[Layer]:
    """The layer with its stand-ins in each role; nothing where a part is not a stand-in."""
    census = Census.of(leaves, sizes.d_model)
    if len(census.norms) == n_attentions + 1:
        for mix in census.feed_forwards:
            for mixes in permutations(census.attentions, n_attentions):
                attentions = tuple(partial(mixed_look_up, mix=one, n_heads=sizes.n_heads) for one in mixes)
                for norms in permutations(Norm(*norm) for norm in census.norms):
                    yield Layer(attentions, partial(wave, mix=mix, d_ff=sizes.d_ff), norms, sizes.norm_first)


def check_parts(parameters: Sequence[Tensor], n_attentions: int, sizes: Sizes) -> Census:
    """Each sublayer has a LayerNorm and an attention of its own, and nothing else is learned.

    In place of the stand-ins that it does not use, a layer may learn as many numbers, and biases of each attention:
    one for each projection, of the output perhaps one for each head. A norm's gain and shift may be single numbers.
    """
    census, d_model, d_ff = Census.of(parameters, sizes.d_model), sizes.d_model, sizes.d_ff
    wanted = n_attentions, 1, n_attentions + 1
    got = len(census.attentions), len(census.feed_forwards), len(census.norms)
    missing = [one - other for one, other in zip(wanted, got, strict=True)]
    fewest = missing[0] * 4 * d_model**2 + missing[1] * (2 * d_model * d_ff + d_model + d_ff) + missing[2] * 2 * d_model
    singles = sum(p.numel() == 1 for p in census.others)
    of_single = d_model if singles <= 2 * (n_attentions + 1) else 1  # many are numbers of vectors
    numbers = sum(of_single if p.numel() == 1 else p.numel() for p in census.others)
    fits = min(missing) >= 0 and fewest <= numbers <= fewest + missing[0] * (4 + sizes.n_heads) * d_model
    has_most = sum(map(min, got, wanted)) > sum(wanted) / 2
    expect(
        fits,
        "how many of MultiHeadedAttention, FeedForward and LayerNorm the layer has",
        "{}, {} and {}".format(*wanted),
        "{}, {} and {}".format(*got) + (f", and {numbers} other learned numbers" if numbers else ""),
        "each sublayer has its own; build them in __init__",
        OtherPartsError if has_most else CheckFailed,
    )
    return census


def stacks(
    leaves: Sequence[Tensor], is_decoder: bool, n_layers: int, sizes: Sizes, extra: float
) -> Iterator[Computation]:
    """Encoder or decoder over stand-ins for its layers, in each order.

    Args:
        leaves: the stack's parameters.
        is_decoder: whether it is a decoder.
        n_layers: the number of its layers.
        sizes: of the layers.
        extra: the trace of the settings that each layer should have got.
    """
    census = Census.of(leaves, sizes.d_model)
    mixes = census.decoder_layers if is_decoder else census.encoder_layers
    compute: Computation = decoder_layer if is_decoder else encoder_layer

    def stack(order: Sequence[Tensor], end: Norm | None, x: Tensor, *others: Tensor | None) -> list[object]:
        seen = []
        for mix in order:
            x, *weights = compute(x, *others, mix, sizes.n_heads, extra)
            seen.append(weights)
        return [x if end is None else end(x), *map(list, zip(*seen, strict=True))]

    ends: Sequence[Norm | None] = [None]
    if sizes.norm_first:
        ends = [Norm(*norm) for norm in census.norms] or final_norms(census.others, sizes.d_model)
    if len(mixes) == n_layers <= MOST_PARTS:
        for order in permutations(mixes):
            yield from (partial(stack, order, end) for end in ends)


def final_norms(leaves: Sequence[Tensor], d_model: int) -> list[Norm]:
    """The stack's own LayerNorm at the end, for each reading of its numbers."""
    pairs = pairs_of(leaves, d_model)
    return [Norm(least + gain, shift, kind) for kind in KINDS for least in (0.0, 1.0) for gain, shift in pairs]


def pairs_of(leaves: Sequence[Tensor], d_model: int) -> list[tuple[Tensor, ...]]:
    """Gain and shift, whichever comes first; those of a feature may lie side by side. [] for other numbers."""
    if sum(leaf.numel() for leaf in leaves) != 2 * d_model:
        return []
    numbers = torch.cat([leaf.ravel() for leaf in leaves])
    side_by_side = [] if len(leaves) == 2 else [numbers.view(d_model, 2).unbind(dim=1)]
    return [order for pair in (numbers.view(2, d_model).unbind(), *side_by_side) for order in permutations(pair)]


def sides(
    leaves: Sequence[Tensor], is_decoder: bool, vocab_size: int, n_layers: int, sizes: Sizes, extra: float, kept: float
) -> Iterator[Computation]:
    """`encode` or `decode` of a model over stand-ins: an embedding, positions, and a stack of one layer's formula."""
    census = Census.of(leaves, sizes.d_model)
    compute: Computation = decoder_layer if is_decoder else encoder_layer

    def side(table: Tensor, mix: Tensor, tokens: Tensor, *others: Tensor | None) -> list[object]:
        x = kept * place(name_tokens(tokens, table))
        x, *weights = compute(x, *others, mix, sizes.n_heads, extra)
        return [x, *([one] * n_layers for one in weights)]

    for table in [leaf for leaf in leaves if tuple(leaf.shape) == (vocab_size, sizes.d_model)]:
        for mix in census.decoder_layers if is_decoder else census.encoder_layers:
            yield partial(side, table, mix)
