"""What an encoder or decoder layer, a stack of them, or a model computes, for each role that its parts may play.

In the tests of layers the attention, the feed-forward network and the LayerNorms inside are stand-ins with random
parameters. Which LayerNorm belongs to which sublayer is found by trying: only the right roles give what comes out. A
layer may write parts out in place of stand-ins; see `written_out`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations

from torch import Tensor

from autograder.assignment.stand_ins.formulas import decoder_layer, encoder_layer, mixed_look_up, name_tokens, place
from autograder.testing.comparison import expect
from autograder.testing.fitting import Computation
from autograder.testing.results import CheckFailed, OtherPartsError

from .parts import Census, Norm, missing_numbers, network_readings, norm_readings, take_census

Attention = Callable[[Tensor, Tensor, Tensor, Tensor | None], tuple[Tensor, Tensor]]
"""Query, key, value and mask -> output and weights."""

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


def stand_in(mix: Tensor, n_heads: int) -> Attention:
    """The stand-in for multi-headed attention with the parameter `mix`."""
    return partial(mixed_look_up, mix=mix, n_heads=n_heads)


def layers(leaves: Sequence[Tensor], n_attentions: int, sizes: Sizes) -> Iterator[Layer]:
    """The layer with its parts in each role; nothing where the parameters do not show the parts."""
    census, n_norms = take_census(leaves, sizes.d_model), n_attentions + 1
    for norms, others in norm_readings(census, n_norms, sizes.d_model):
        for network in network_readings(census, others, sizes.d_model, sizes.d_ff):
            for mixes in permutations(census.attentions, n_attentions):
                attentions = tuple(stand_in(mix, sizes.n_heads) for mix in mixes)
                for order in permutations(norms, n_norms):
                    yield Layer(attentions, network, order, sizes.norm_first)


def check_parts(parameters: Sequence[Tensor], n_attentions: int, sizes: Sizes) -> Census:
    """Each sublayer has a LayerNorm and an attention of its own, and nothing else is learned."""
    census = take_census(parameters, sizes.d_model)
    wanted = n_attentions, 1, n_attentions + 1
    got = len(census.attentions), len(census.feed_forwards), len(census.norms)
    fewest, most = missing_numbers(census, wanted[0], wanted[2], sizes.d_model, sizes.d_ff)
    numbers = sum(p.numel() for p in census.others)
    fits = all(one <= other for one, other in zip(got, wanted, strict=True)) and fewest <= numbers <= most
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
    census = take_census(leaves, sizes.d_model)
    mixes = census.decoder_layers if is_decoder else census.encoder_layers
    ends = [norm for [norm], _ in norm_readings(census, 1, sizes.d_model)] if sizes.norm_first else [None]
    if len(mixes) == n_layers <= MOST_PARTS:
        for order in permutations(mixes):
            for end in ends:
                yield partial(_stack, order=order, n_heads=sizes.n_heads, extra=extra, end=end, is_decoder=is_decoder)


def _stack(
    x: Tensor,
    *others: Tensor | None,
    order: Sequence[Tensor],
    n_heads: int,
    extra: float,
    end: Norm | None,
    is_decoder: bool,
) -> list[object]:
    seen = []
    compute: Computation = decoder_layer if is_decoder else encoder_layer
    for mix in order:
        x, *weights = compute(x, *others, mix, n_heads, extra)
        seen.append(weights)
    return [x if end is None else end(x), *map(list, zip(*seen, strict=True))]


def sides(
    leaves: Sequence[Tensor], is_decoder: bool, vocab_size: int, n_layers: int, sizes: Sizes, extra: float, kept: float
) -> Iterator[Computation]:
    """`encode` or `decode` of a model over stand-ins: an embedding, positions, and a stack of one layer's formula."""
    census = take_census(leaves, sizes.d_model)
    for table in [leaf for leaf in leaves if tuple(leaf.shape) == (vocab_size, sizes.d_model)]:
        for mix in census.decoder_layers if is_decoder else census.encoder_layers:
            yield partial(
                _side,
                table=table,
                mix=mix,
                n_layers=n_layers,
                n_heads=sizes.n_heads,
                extra=extra,
                is_decoder=is_decoder,
                kept=kept,
            )


def _side(
    tokens: Tensor,
    *others: Tensor | None,
    table: Tensor,
    mix: Tensor,
    n_layers: int,
    n_heads: int,
    extra: float,
    is_decoder: bool,
    kept: float,
) -> list[object]:
    compute: Computation = decoder_layer if is_decoder else encoder_layer
    x = kept * place(name_tokens(tokens, table))
    x, *weights = compute(x, *others, mix, n_heads, extra)
    return [x, *([one] * n_layers for one in weights)]
